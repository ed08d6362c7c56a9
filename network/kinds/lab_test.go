package kinds_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"tare/agent"
	"tare/catalog"
	"tare/lab"
	"tare/network"
	"tare/network/kinds"
	"tare/probe"
	"tare/result"
	"tare/site"
	"tare/test/labtest"
	"tare/workload"
)

// on is a cluster of two hosts with two containers each, and its network.
func on(name string) site.ClusterSpec {
	return site.ClusterSpec{Name: name, Network: name, Axes: result.Params{"nic": string(lab.NICFull), "mtu": 1500.0}, Hosts: 2, Containers: 2}
}

// build starts a lab that ends with the test and leaves nothing. It fails the test
// unless every network is set up.
func build(t *testing.T, clusters ...site.ClusterSpec) *site.Lab {
	t.Helper()
	l := tryBuild(t, clusters...)
	for _, b := range l.Topology.Clusters {
		if b.Error != "" {
			t.Fatalf("%s: %s", b.Name, b.Error)
		}
	}
	return l
}

// tryBuild is build where networks may fail.
func tryBuild(t *testing.T, clusters ...site.ClusterSpec) *site.Lab {
	t.Helper()
	labtest.NoLeaks(t)
	var group string
	t.Cleanup(func() {
		if group != "" { // else the lab has none, or was not built
			labtest.NoGroup(t, group)
		}
	})
	l, err := site.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := l.Build(t.Context(), site.Spec{CC: "cubic", Pin: catalog.PinApart, Clusters: clusters}); err != nil {
		t.Fatal(err)
	}
	group = l.Topology.Spec.Cgroup
	t.Logf("%d clusters are up after %.1f s", len(clusters), l.Topology.Up)
	return l
}

// built returns a cluster by name.
func built(t *testing.T, l *site.Lab, name string) site.Built {
	t.Helper()
	for _, b := range l.Topology.Clusters {
		if b.Name == name {
			return b
		}
	}
	t.Fatalf("no cluster %s", name)
	return site.Built{}
}

// measure does one run between the ends of a path, in which something is done: a busy
// machine may let neither end run for the first window, and only the last says that nothing
// is carried.
func measure(t *testing.T, l *site.Lab, b site.Built, path, name string, run workload.Run) agent.Outcome {
	t.Helper()
	for _, run.Duration = range []time.Duration{30 * time.Millisecond, time.Second, 10 * time.Second} {
		out := measureFor(t, l, b, path, name, run)
		if out.Client.Work+out.Server.Work > 0 {
			return out
		}
		labtest.TryAgain(t, "%s on %s of %s, %d bytes: nothing was done in %v", name, path, b.Name, run.Size, run.Duration)
	}
	t.Fatalf("%s on %s of %s, %d bytes: nothing is carried", name, path, b.Name, run.Size)
	return agent.Outcome{}
}

// measureFor is measure for the run's own duration, whatever is done in it.
func measureFor(t *testing.T, l *site.Lab, b site.Built, path, name string, run workload.Run) agent.Outcome {
	t.Helper()
	ends, served := b.Paths[path]
	if !served {
		t.Fatalf("%s has no path %s", b.Name, path)
	}
	server, err := l.Agent(t.Context(), b.Name+"."+ends.Server, "server")
	if err != nil {
		t.Fatal(err)
	}
	client, err := l.Agent(t.Context(), b.Name+"."+ends.Client, "client")
	if err != nil {
		t.Fatal(err)
	}
	kind, known := workload.Find(name)
	if !known {
		t.Fatalf("no workload %s", name)
	}
	run.Token, run.Flows, run.Mode = hex.EncodeToString([]byte(rand.Text())[:16]), 1, kind.Modes[0]
	if n, _ := kinds.Find(b.Network); n.Sandboxed {
		run.CC, run.OwnClocks = "cubic", true
	}
	out, err := agent.Measure(t.Context(), server, client, name, run,
		netip.AddrPortFrom(ends.Bind, network.Port).String(), netip.AddrPortFrom(ends.Dial, network.Port).String())
	if err != nil {
		t.Fatalf("%s on %s of %s: %v", name, path, b.Name, err)
	}
	return out
}

// link reads a device of a host or container.
func link(t *testing.T, l *site.Lab, at, name string) probe.Link {
	t.Helper()
	held, err := l.Look(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range held[0].Links {
		if link.Name == name {
			return link
		}
	}
	t.Fatalf("%s has no %s", at, name)
	return probe.Link{}
}

// exec runs a command at a place and returns its output and its exit status.
func exec(ctx context.Context, l *site.Lab, at string, argv ...string) (string, int, error) {
	reader, writer, err := os.Pipe()
	if err != nil {
		return "", 0, err
	}
	defer reader.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		return "", 0, err
	}
	defer null.Close()
	status, err := l.Exec(ctx, at, argv, null, writer, os.Stderr)
	writer.Close()
	if err != nil {
		return "", status, err
	}
	text, err := io.ReadAll(reader)
	return string(text), status, err
}

// server is a command of this binary's that runs at a place of a lab and can be called.
type server struct {
	lines *bufio.Reader
	stop  context.CancelFunc
	ended chan struct{}
	err   error // of how it ended
}

// serve starts such a command, and returns once it prints that it is ready.
func serve(t *testing.T, l *site.Lab, at string, argv ...string) *server {
	t.Helper()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	s := &server{lines: bufio.NewReader(reader), stop: stop, ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		defer writer.Close()
		defer null.Close()
		status, err := l.Exec(ctx, at, append([]string{"/proc/self/exe"}, argv...), null, writer, os.Stderr)
		if err == nil && status != 0 && ctx.Err() == nil {
			err = fmt.Errorf("status %d", status)
		}
		if err != nil {
			s.err = fmt.Errorf("%s at %s: %w", strings.Join(argv, " "), at, err)
		}
	}()
	t.Cleanup(func() {
		stop()
		<-s.ended
		reader.Close()
	})
	if line := s.line(t); line != ready {
		t.Fatalf("%s at %s: %q", strings.Join(argv, " "), at, line)
	}
	return s
}

// line waits for the next line that the server prints.
func (s *server) line(t *testing.T) string {
	t.Helper()
	line, err := s.lines.ReadString('\n')
	if err != nil {
		<-s.ended
		t.Fatalf("%q, %v: %v", line, err, s.err)
	}
	return strings.TrimSuffix(line, "\n")
}

// end ends the server, if it has not ended.
func (s *server) end() error {
	s.stop()
	<-s.ended
	return s.err
}

// seenAs returns a client's address as a server sees it: the server listens at
// bind, the client calls dial.
func seenAs(t *testing.T, l *site.Lab, client, dial, server, bind string) string {
	t.Helper()
	return answered(t, l, "call", client, dial, server, bind)
}

// answered is seenAs with a client that sends nothing, "call", or one that sends after
// some silence, "speak".
func answered(t *testing.T, l *site.Lab, as, client, dial, server, bind string) string {
	t.Helper()
	s := serve(t, l, server, "greet", bind)
	printed, status, err := exec(t.Context(), l, client, "/proc/self/exe", as, dial)
	if errServer := s.end(); err != nil || errServer != nil || status != 0 {
		t.Fatalf("%s %s from %s: status %d, %v; server: %v", as, dial, client, status, err, errServer)
	}
	addr, err := netip.ParseAddrPort(printed)
	if err != nil {
		t.Fatal(err)
	}
	return addr.Addr().String()
}

// datagramAnswered fails unless a datagram from the client reaches the server, and its answer the client.
func datagramAnswered(t *testing.T, l *site.Lab, client, dial, server, bind string) {
	t.Helper()
	s := serve(t, l, server, "answer", bind)
	_, status, err := exec(t.Context(), l, client, "/proc/self/exe", "ask", dial)
	if errServer := s.end(); err != nil || errServer != nil || status != 0 {
		t.Errorf("ask %s from %s: status %d, %v; server: %v", dial, client, status, err, errServer)
	}
}

// shell runs a script at a place.
func shell(t *testing.T, l *site.Lab, at, script string) string {
	t.Helper()
	printed, status, err := exec(t.Context(), l, at, "sh", "-c", script)
	if err != nil || status != 0 {
		t.Fatalf("%s: %s: status %d, %v: %s", at, script, status, err, printed)
	}
	return printed
}

// pings asks a container or host for one answer, and waits for so many seconds.
func pings(t *testing.T, l *site.Lab, at, address string, seconds int) bool {
	t.Helper()
	_, status, err := exec(t.Context(), l, at, "ping", "-q", "-c", "1", "-W", strconv.Itoa(seconds), address)
	if err != nil {
		t.Fatal(err)
	}
	return status == 0
}

// reaches fails unless an address answers.
func reaches(t *testing.T, l *site.Lab, at, address string) {
	t.Helper()
	if !pings(t, l, at, address, int(callWait.Seconds())) {
		t.Errorf("%s does not answer %s", address, at)
	}
}

// reachesNot fails if an address answers, although why.
func reachesNot(t *testing.T, l *site.Lab, at, address, why string) {
	t.Helper()
	if pings(t, l, at, address, 1) {
		t.Errorf("%s answers %s, although %s", address, at, why)
	}
}

// processOf is a command of a shell in a host that prints the processes there whose command line
// holds a text: the hosts of a lab see each other's.
func processOf(text string) string {
	// The shell's own line holds the brackets.
	return "pgrep --ns $$ --nslist net -f '[" + text[:1] + "]" + text[1:] + "'"
}

// endAt kills the processes of a host whose command line holds a text; there must be one.
func endAt(t *testing.T, l *site.Lab, host, text string) {
	t.Helper()
	shell(t, l, host, "pids=$("+processOf(text)+") && kill -KILL $pids")
}
