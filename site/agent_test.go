package site_test

import (
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"tare/agent"
	"tare/site"
	"tare/test/labtest"
	"tare/workload"
)

// promptly is how soon an agent's failure must be reported, silence how soon that of one
// that sends nothing.
const (
	promptly = 5 * time.Second
	silence  = 15 * time.Second
)

func TestLabFailedAgentsAreReported(t *testing.T) {
	for _, c := range []struct {
		line, want string
		within     time.Duration
	}{
		{"exec sleep 100", "it sent nothing", silence},
		{"echo nonsense; exec sleep 100", "wait for its hello: it sent what no agent sends", promptly},
		{"exit 1", "wait for its hello: it died", promptly},
		{`echo '{"schema":"tare.agent/0"}'; exec sleep 100`, `its protocol is "tare.agent/0"`, promptly},
	} {
		t.Run(c.want, func(t *testing.T) {
			labtest.NoLeaks(t)
			cmd := exec.Command("sh", "-c", c.line)
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			begun := time.Now()
			_, err = agent.Open(t.Context(), "h1", in, out, sync.OnceValue(func() error {
				if err := cmd.Process.Kill(); err != nil {
					return err
				}
				if _, err := cmd.Process.Wait(); err != nil {
					return err
				}
				return out.Close()
			}))
			if err == nil || !strings.Contains(err.Error(), "agent at h1: "+c.want) {
				t.Errorf("%q: %v, want %q", c.line, err, c.want)
			}
			if took := time.Since(begun); took > c.within {
				t.Errorf("%q is reported after %s", c.line, took)
			}
		})
	}
}

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

// Agents that are killed or stopped during a run are reported in time, and the
// next request starts others.
func TestLabUserAgentsThatFailInARun(t *testing.T) {
	for _, c := range []struct{ signal, want string }{
		{"KILL", "it died"},
		{"STOP", "it hangs"},
	} {
		t.Run(c.signal, func(t *testing.T) {
			l := build(t, "veth")
			server, client := agents(t, l)
			if err := measure(t, server, client, 20*time.Millisecond); err != nil {
				t.Fatal(err)
			}
			again, _ := agents(t, l)
			if again != server {
				t.Error("a working agent is not used again")
			}
			const window = time.Second
			ended := make(chan error, 1)
			begun := time.Now()
			go func() { ended <- measure(t, server, client, window) }()
			time.Sleep(100 * time.Millisecond) // the run is under way, or not yet: it fails in both
			// kill(-1) reaches every process of the lab but its init and the caller.
			run(t, l, "h1", "", "kill -"+c.signal+" -1")
			err := <-ended
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("a run whose agents get SIG%s: %v, want %q", c.signal, err, c.want)
			}
			if late := time.Since(begun) - window; late > promptly {
				t.Errorf("it is reported %s after the run should have ended", late)
			}
			for deadline := time.Now().Add(promptly); server.Broken() == nil || client.Broken() == nil; time.Sleep(time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("an agent that failed is not known to be broken")
				}
			}
			if c.signal == "KILL" {
				server, client = agents(t, l)
				if err := measure(t, server, client, 20*time.Millisecond); err != nil {
					t.Errorf("other agents: %v", err)
				}
			}
		})
	}
}
