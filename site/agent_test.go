package site_test

import (
	"strings"
	"testing"
	"time"

	"tare/agent"
	"tare/site"
	"tare/test/labtest"
	"tare/workload"
)

// agents are those at both ends of a path within h1 of the network veth.
func agents(t *testing.T, l *site.Lab) (server, client *agent.Handle) {
	t.Helper()
	server, err := l.Agent(t.Context(), "h1", "server")
	if err != nil {
		t.Fatal(err)
	}
	client, err = l.Agent(t.Context(), "h1", "client")
	if err != nil {
		t.Fatal(err)
	}
	return server, client
}

// over loopback of h1, for so long.
func measure(t *testing.T, server, client *agent.Handle, window time.Duration) error {
	t.Helper()
	const address = "127.0.0.1:5210"
	out, err := agent.Measure(t.Context(), server, client, "tcp_rr", workload.Run{
		Token: strings.Repeat("0f", 16), Mode: "block", Flows: 1, Size: 1, Duration: window,
	}, address, address)
	if err == nil && out.Client.Work <= 0 {
		t.Error("no transaction")
	}
	return err
}

// What runs in a lab is killed during a run, which is reported, and the next request starts
// other agents. What lives on, stopped too, ends with the lab: NoLeaks, which start asked for,
// finds it if it stays.
func TestLabUserWhatRunsDies(t *testing.T) {
	l := build(t, "veth")
	server, client := agents(t, l)
	if err := measure(t, server, client, 20*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	again, _ := agents(t, l)
	labtest.Equal(t, "a working agent is used again", again == server, true)
	ended := make(chan error, 1)
	go func() { ended <- measure(t, server, client, time.Hour) }()
	// kill(-1) reaches every process of the lab but its init and the caller. The run is under way
	// once a connection to its port is established (proc(5), net/tcp).
	run(t, l, "h1", "", "until grep -q ':145A [0-9A-F:]* 01 ' /proc/net/tcp; do sleep 0.01; done; kill -KILL -1")
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "it died") {
		t.Errorf("a run whose agents were killed: %v", err)
	}
	labtest.Await(t, "agents that were killed are broken", func() bool { return server.Broken() != nil && client.Broken() != nil })
	server, client = agents(t, l)
	if err := measure(t, server, client, 20*time.Millisecond); err != nil {
		t.Errorf("other agents: %v", err)
	}
	daemonOutlivesItsStarter(t, l)
	run(t, l, "h1", "", "kill -STOP -1")
}

// A daemon forks twice, leaves its session and minds no signal that can be minded. It is
// there after its starter's end.
func daemonOutlivesItsStarter(t *testing.T, l *site.Lab) {
	t.Helper()
	before := len(labtest.Marked(t))
	_, status := run(t, l, "h1", "", `(setsid sh -c 'trap "" TERM HUP INT; while :; do sleep 100; done' </dev/null >/dev/null 2>&1 &); exit 3`)
	labtest.Equal(t, "the starter's status", status, 3)
	labtest.Await(t, "the daemon runs", func() bool { return len(labtest.Marked(t)) > before })
}
