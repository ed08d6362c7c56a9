package network_test

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"io"
	"net/netip"
	"os"
	"testing"
	"time"

	"tare/agent"
	"tare/lab"
	"tare/network"
	"tare/probe"
	"tare/site"
	"tare/test/labtest"
	"tare/workload"
)

// on is a cluster of two hosts with two containers each, and its network.
func on(name string) site.ClusterSpec {
	return site.ClusterSpec{Name: name, Network: name, NIC: string(lab.NICFull), MTU: 1500, Hosts: 2, Containers: 2}
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
	l, err := site.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := l.Build(t.Context(), site.Spec{CC: "cubic", Pin: string(lab.PinApart), Clusters: clusters}); err != nil {
		t.Fatal(err)
	}
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

// measure does one run between the ends of a path. Without a duration it takes 30 ms,
// and a second where nothing was done in them: a busy machine may let neither end run
// for so long, and only the second says that nothing is carried.
func measure(t *testing.T, l *site.Lab, b site.Built, path, name string, run workload.Run) agent.Outcome {
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
	token := make([]byte, 16)
	if _, err := rand.Read(token); err != nil {
		t.Fatal(err)
	}
	kind, known := workload.Find(name)
	if !known {
		t.Fatalf("no workload %s", name)
	}
	run.Token, run.Flows, run.Mode = hex.EncodeToString(token), 1, kind.Modes[0]
	windows := []time.Duration{run.Duration}
	if run.Duration == 0 {
		windows = []time.Duration{30 * time.Millisecond, time.Second}
	}
	var out agent.Outcome
	for _, run.Duration = range windows {
		out, err = agent.Measure(t.Context(), server, client, name, run,
			netip.AddrPortFrom(ends.Bind, network.Port).String(), netip.AddrPortFrom(ends.Dial, network.Port).String())
		if err != nil {
			t.Fatalf("%s on %s of %s: %v", name, path, b.Name, err)
		}
		if out.Client.Work > 0 {
			break
		}
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

// seenAs returns a client's address as a server sees it: the server listens at
// bind, the client calls dial.
func seenAs(t *testing.T, l *site.Lab, client, dial, server, bind string) string {
	t.Helper()
	return answered(t, l, "call", client, dial, server, bind)
}

// answered is seenAs with a client that sends nothing, "call", or one that sends after a
// second of silence, "speak".
func answered(t *testing.T, l *site.Lab, as, client, dial, server, bind string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, _, err := exec(ctx, l, server, "/proc/self/exe", "greet", bind)
		ended <- err
	}()
	printed, status, err := exec(t.Context(), l, client, "/proc/self/exe", as, dial)
	cancel() // ends a server that no client has called
	if errServer := <-ended; err != nil || errServer != nil || status != 0 {
		t.Fatalf("%s %s from %s: status %d, %v; server: %v", as, dial, client, status, err, errServer)
	}
	addr, err := netip.ParseAddrPort(printed)
	if err != nil {
		t.Fatal(err)
	}
	return addr.Addr().String()
}
