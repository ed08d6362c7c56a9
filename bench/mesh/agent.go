package mesh

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"tare/agent"
	"tare/test/meshtest"
	"tare/workload"
)

// The messages of an agent, as package agent has them.
type (
	order struct {
		ID  int        `json:"id"`
		Do  string     `json:"do"`
		Job *agent.Job `json:"job,omitempty"`
	}
	answer struct {
		ID        int             `json:"id"`
		Listening string          `json:"listening,omitempty"`
		Tally     *workload.Tally `json:"tally,omitempty"`
	}
)

// The ports of sparse and dense rounds, by which a simulated agent distinguishes them.
const sparsePort, densePort = 5201, 5202

// addressOf is where a node is, by its number.
func addressOf(node int, dense bool) netip.AddrPort {
	port := uint16(sparsePort)
	if dense {
		port = densePort
	}
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, byte(node >> 16), byte(node >> 8), byte(node)}), port)
}

func nodeAt(address netip.AddrPort) int {
	bytes := address.Addr().As4()
	return int(bytes[1])<<16 | int(bytes[2])<<8 | int(bytes[3])
}

// world is one that agents may ask at the same time.
type world struct {
	mu      sync.Mutex
	of      *meshtest.World
	tallies [2]workload.Tally // of every agent
}

func newWorld(of *meshtest.World) (*world, error) {
	w := &world{of: of}
	return w, json.Unmarshal(talliesText, &w.tallies)
}

func (w *world) goodput(client, server int, dense bool) float64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	value, _ := w.of.Goodput(client, server, dense)
	return value
}

// serve is a simulated agent: it answers at once.
func serve(node int, w *world, in io.Reader, out io.Writer) error {
	stream := agent.NewFrames(in, out)
	hello := agent.Hello{Schema: agent.Schema, Version: "0.1.0", Boot: fmt.Sprintf("3f0c1d2e-5b6a-4c7d-8e9f-%012d", node)}
	if err := stream.Write(hello); err != nil {
		return err
	}
	for {
		var o order
		if err := stream.Read(&o); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if o.Job == nil {
			continue // it is to stop what has ended
		}
		address, err := netip.ParseAddrPort(o.Job.Address)
		if err != nil {
			return fmt.Errorf("read address of order: %w", err)
		}
		a := answer{ID: o.ID, Tally: &w.tallies[0]}
		switch o.Do {
		case "serve":
			if err := stream.Write(answer{ID: o.ID, Listening: o.Job.Address}); err != nil {
				return err
			}
		case "send":
			a.Tally = with(w.tallies[1], w.goodput(node, nodeAt(address), address.Port() == densePort))
		}
		if err := stream.Write(a); err != nil {
			return err
		}
	}
}

// run is what both ends of a window are asked for.
func run() workload.Run {
	return workload.Run{
		Token: "5d41402abc4b2a76b9719d911017c592", Mode: "write128K", Flows: 1, Size: 131072,
		Warmup: 100 * time.Millisecond, Duration: time.Second, Interval: 100 * time.Millisecond,
	}
}

// tallies are as long as those of the ends of tcp_stream: of the one that does not measure, and of the other
// without its throughput. A node has 16 CPUs.
//
//go:embed tallies.json
var talliesText []byte

// with is the tally of the end that measures.
func with(t workload.Tally, goodput float64) *workload.Tally {
	t.Metrics = map[string]float64{"throughput": goodput, "throughput_min": goodput, "throughput_max": goodput, "throughput_cv": 0.0123456, "retransmits": 12}
	t.Series = map[string][]float64{"throughput": slices.Repeat([]float64{goodput}, 10), "time": slices.Repeat([]float64{0.123456789}, 10)}
	t.Work = goodput / 1e9
	return &t
}

// countedWriter and countedReader count the bytes of streams.
type countedWriter struct {
	io.WriteCloser
	bytes *atomic.Int64
}

type countedReader struct {
	io.Reader
	bytes *atomic.Int64
}

func (w countedWriter) Write(p []byte) (int, error) {
	n, err := w.WriteCloser.Write(p)
	w.bytes.Add(int64(n))
	return n, err
}

func (r countedReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.bytes.Add(int64(n))
	return n, err
}

// fleet is the handles of all agents.
type fleet struct {
	handles []*agent.Handle
	moved   atomic.Int64 // bytes, by all streams
}

// open starts an agent for each node.
func open(ctx context.Context, nodes int, w *world) (*fleet, error) {
	f := &fleet{}
	for node := range nodes {
		ordersOut, orders := io.Pipe()
		answers, answersIn := io.Pipe()
		go func() { answersIn.CloseWithError(serve(node, w, ordersOut, answersIn)) }()
		end := func() error { return errors.Join(ordersOut.Close(), answers.Close()) }
		h, err := agent.Open(ctx, fmt.Sprintf("node-%d", node), countedWriter{orders, &f.moved}, countedReader{answers, &f.moved}, end)
		if err != nil {
			return nil, errors.Join(err, f.close())
		}
		f.handles = append(f.handles, h)
	}
	return f, nil
}

func (f *fleet) close() error {
	var errs []error
	for _, h := range f.handles {
		errs = append(errs, h.Close())
	}
	return errors.Join(errs...)
}

// window measures a pair.
func (f *fleet) window(ctx context.Context, client, server int, dense bool) (map[string]float64, string) {
	at := addressOf(server, dense).String()
	out, err := agent.Measure(ctx, f.handles[server], f.handles[client], "tcp_stream", run(), at, at)
	if err != nil {
		return nil, err.Error()
	}
	return map[string]float64{"throughput": out.Sample().Metrics["throughput"]}, ""
}
