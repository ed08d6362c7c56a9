package mesh

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"net/netip"
	"slices"
	"sync"

	"tare/agent"
	"tare/test/meshtest"
	"tare/test/simtest"
	"tare/workload"
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

// tallies are as long as those of the ends of tcp_stream: of the one that does not measure, and of the other
// without its throughput. A node has 16 CPUs.
//
//go:embed tallies.json
var talliesText []byte

// fleet is the agents of all nodes, and the world in which they measure.
type fleet struct {
	*simtest.Site
	handles []*agent.Handle
	mu      sync.Mutex // agents ask the world at the same time
	of      *meshtest.World
	tallies [2]workload.Tally
}

// open starts an agent for each node, which answers at once.
func open(ctx context.Context, nodes int, of *meshtest.World) (*fleet, error) {
	f := &fleet{of: of}
	if err := json.Unmarshal(talliesText, &f.tallies); err != nil {
		return nil, err
	}
	f.Site = simtest.New(f.answer)
	for node := range nodes {
		h, err := f.Agent(ctx, addressOf(node, false).String(), "node")
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		f.handles = append(f.handles, h)
	}
	return f, nil
}

// answer is what an agent measures.
func (f *fleet) answer(o simtest.Request) simtest.Reply {
	client, errClient := netip.ParseAddrPort(o.At)
	server, errServer := netip.ParseAddrPort(o.Address)
	if o.Serves() || errClient != nil || errServer != nil {
		return simtest.Reply{Tally: f.tallies[0]}
	}
	f.mu.Lock()
	goodput, _ := f.of.Goodput(nodeAt(client), nodeAt(server), server.Port() == densePort)
	f.mu.Unlock()
	if goodput == 0 { // the window is lost
		return simtest.Reply{Tally: f.tallies[0]}
	}
	t := f.tallies[1]
	t.Metrics = map[string]float64{"throughput": goodput, "throughput_min": goodput, "throughput_max": goodput, "throughput_cv": 0.0123456, "retransmits": 12}
	t.Series = map[string][]float64{"throughput": slices.Repeat([]float64{goodput}, 10), "time": slices.Repeat([]float64{0.123456789}, 10)}
	t.Work = goodput / 1e9
	return simtest.Reply{Tally: t}
}

// window measures a pair.
func (f *fleet) window(ctx context.Context, client, server int, dense bool) (map[string]float64, string) {
	run := workload.Run{Token: "5d41402abc4b2a76b9719d911017c592", Mode: "write128K", Flows: 1, Size: 131072} // of no length
	at := addressOf(server, dense).String()
	out, err := agent.Measure(ctx, f.handles[server], f.handles[client], "tcp_stream", run, at, at)
	if err != nil {
		return nil, err.Error()
	}
	return map[string]float64{"throughput": out.Sample().Metrics["throughput"]}, ""
}
