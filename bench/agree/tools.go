package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"regexp"
	"strconv"
	"time"

	"tare/agent"
	"tare/network"
	"tare/site"
	"tare/workload"
)

// tool measures one thing between two ends, in SI units.
type tool interface {
	measure(ctx context.Context) (float64, error)
	name() string
}

// end are the two ends of a path in the lab.
type end struct {
	lab      *site.Lab
	underlay string
	ends     network.Ends
	duration time.Duration
}

func (e end) server() string { return e.underlay + "." + e.ends.Server }
func (e end) client() string { return e.underlay + "." + e.ends.Client }

// native is tare's own engine.
type native struct {
	end
	workload, metric string
	size             int
}

func (n native) name() string { return "tare" }

func (n native) measure(ctx context.Context) (float64, error) {
	server, err := n.lab.Agent(ctx, n.server(), "server")
	if err != nil {
		return 0, err
	}
	client, err := n.lab.Agent(ctx, n.client(), "client")
	if err != nil {
		return 0, err
	}
	token := make([]byte, 16)
	if _, err := rand.Read(token); err != nil {
		return 0, err
	}
	kind, _ := workload.Find(n.workload)
	run := workload.Run{
		Token: hex.EncodeToString(token), Mode: kind.Modes[0], Flows: 1, Size: n.size,
		Warmup: n.duration / 4, Duration: n.duration,
	}
	at := netip.AddrPortFrom(n.ends.Bind, network.Port).String()
	out, err := agent.Measure(ctx, server, client, n.workload, run, at, at)
	if err != nil {
		return 0, err
	}
	for _, tally := range []workload.Tally{out.Server, out.Client} {
		if v, ok := tally.Metrics[n.metric]; ok {
			return v, nil
		}
	}
	return 0, fmt.Errorf("tare gave no %s", n.metric)
}

// output runs a command at a place of the lab and gives what it printed.
func (e end) output(ctx context.Context, at string, argv ...string) ([]byte, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, errors.Join(err, read.Close(), write.Close())
	}
	var out bytes.Buffer
	copied := make(chan error, 1)
	go func() { _, err := out.ReadFrom(read); copied <- err }()
	status, err := e.lab.Exec(ctx, at, argv, null, write, write)
	err = errors.Join(err, write.Close(), <-copied, read.Close(), null.Close())
	if err == nil && status != 0 {
		err = fmt.Errorf("%s: exit status %d: %s", argv[0], status, bytes.TrimSpace(out.Bytes()))
	}
	return out.Bytes(), err
}

// serveWhile runs a server at the server's end while the client runs, and
// tries the client again until the server listens.
func (e end) serveWhile(ctx context.Context, server []string, client func() ([]byte, error)) ([]byte, error) {
	ctx, stop := context.WithCancel(ctx)
	served := make(chan error, 1)
	go func() { _, err := e.output(ctx, e.server(), server...); served <- err }()
	var out []byte
	var err error
	for range 50 {
		if out, err = client(); err == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	stop()
	<-served //nolint:errcheck // interrupted, or it ended by itself: its status says nothing more
	return out, err
}

// iperf3 is Debian's, one TCP flow, 128 KiB writes, JSON.
type iperf3 struct{ end }

func (iperf3) name() string { return "iperf3 -l 128K" }

func (i iperf3) measure(ctx context.Context) (float64, error) {
	addr := i.ends.Bind.String()
	seconds := strconv.FormatFloat(i.duration.Seconds(), 'f', -1, 64)
	out, err := i.serveWhile(ctx, []string{"iperf3", "-s", "-1", "-B", addr}, func() ([]byte, error) {
		out, err := i.output(ctx, i.client(), "iperf3", "-c", addr, "-t", seconds, "-O", "1", "-l", "128K", "-J")
		if err == nil && bytes.Contains(out, []byte(`"error":`)) { // it exits with 0
			err = fmt.Errorf("iperf3: %s", out)
		}
		return out, err
	})
	if err != nil {
		return 0, err
	}
	var result struct {
		End struct {
			Received struct {
				BitsPerSecond float64 `json:"bits_per_second"`
			} `json:"sum_received"`
			Sender string `json:"sender_tcp_congestion"`
		} `json:"end"`
	}
	if err := json.Unmarshal(out, &result); err != nil {
		return 0, fmt.Errorf("read iperf3's JSON: %w", err)
	}
	if result.End.Sender != "cubic" {
		return 0, fmt.Errorf("iperf3 sent with %q, not cubic", result.End.Sender)
	}
	return result.End.Received.BitsPerSecond, nil
}

// sockperf is Debian's ping-pong over TCP with full round trips.
type sockperf struct {
	end
	percentile string
}

func (sockperf) name() string { return "sockperf pp --tcp --full-rtt" }

func (s sockperf) measure(ctx context.Context) (float64, error) {
	addr := s.ends.Bind.String()
	out, err := s.serveWhile(ctx, []string{"sockperf", "sr", "--tcp", "-i", addr, "-p", "11111"}, func() ([]byte, error) {
		return s.output(ctx, s.client(), "sockperf", "pp", "--tcp", "-i", addr, "-p", "11111",
			"-t", strconv.Itoa(int(s.duration.Seconds())), "--full-rtt", "-m", "14")
	})
	if err != nil {
		return 0, err
	}
	line := regexp.MustCompile(`percentile ` + regexp.QuoteMeta(s.percentile) + ` = +([0-9.]+)`).FindSubmatch(out)
	if line == nil {
		return 0, fmt.Errorf("read sockperf: no percentile %s in %q", s.percentile, out)
	}
	us, err := strconv.ParseFloat(string(line[1]), 64)
	return us * 1e-6, err
}
