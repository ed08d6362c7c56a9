package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"tare/protocol"
	"tare/test/labtest"
	"tare/workload"
)

// address is on the loopback, and this process's own: tests of several
// packages run at the same time.
func address(port int) string {
	pid := os.Getpid()
	return fmt.Sprintf("127.%d.%d.%d:%d", 64+pid>>16&63, pid>>8&255, 1+pid%254, port)
}

// quick is a run of one round-trip loop.
func quick() workload.Run {
	return workload.Run{
		Token: strings.Repeat("07", 16), Mode: "block", Flows: 1, Size: 1,
		Warmup: 5 * time.Millisecond, Duration: 40 * time.Millisecond,
	}
}

// pipes are an agent's standard input and output, both ends of each.
type pipes struct {
	theirIn, ourOut *os.File
	ourIn, theirOut *os.File
}

func newPipes(t *testing.T) pipes {
	t.Helper()
	theirIn, ourIn, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ourOut, theirOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	return pipes{theirIn, ourOut, ourIn, theirOut}
}

// open starts life behind the pipes and takes it over. To end it is to close
// all pipes and to wait for it.
func open(t *testing.T, name string, live func(in io.Reader, out io.Writer) error) (*Handle, error) {
	t.Helper()
	p := newPipes(t)
	lived := make(chan error, 1)
	go func() {
		lived <- errors.Join(live(p.theirIn, p.theirOut), p.theirOut.Close())
	}()
	requests := closedOnce{p.ourIn, sync.OnceValue(p.ourIn.Close)}
	end := sync.OnceValue(func() error {
		return errors.Join(requests.Close(), p.ourOut.Close(), <-lived, p.theirIn.Close())
	})
	h, err := Open(context.Background(), name, requests, p.ourOut, end)
	if err == nil {
		t.Cleanup(func() {
			if err := h.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return h, err
}

// closedOnce is a pipe that both an agent's end and its handle close.
type closedOnce struct {
	io.Writer
	close func() error
}

func (c closedOnce) Close() error { return c.close() }

// start opens an agent that works.
func start(t *testing.T, name string) *Handle {
	t.Helper()
	h, err := open(t, name, func(in io.Reader, out io.Writer) error {
		return Serve(context.Background(), in, out, "1.2.3")
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// ask sends a running agent one line, and reads one line back.
func ask(t *testing.T, line string) Reply {
	t.Helper()
	p := newPipes(t)
	served := make(chan error, 1)
	go func() { served <- Serve(context.Background(), p.theirIn, p.theirOut, "1.2.3") }()
	if _, err := p.ourIn.WriteString(framed(1, line)); err != nil {
		t.Fatal(err)
	}
	replies := protocol.NewStream(p.ourOut, nil)
	var g Greeting
	var r Reply
	if err := errors.Join(replies.Read(&g), replies.Read(&r)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(p.ourIn.Close(), <-served, p.ourOut.Close(), p.theirIn.Close(), p.theirOut.Close()); err != nil {
		t.Error(err)
	}
	return r
}

func TestGreeting(t *testing.T) {
	h := start(t, "h1")
	if h.Version != "1.2.3" || h.Broken() != nil {
		t.Errorf("version %q, broken: %v", h.Version, h.Broken())
	}
}

func TestWholeRun(t *testing.T) {
	server, client := start(t, "h1"), start(t, "h2")
	for n, kind := range workload.All() {
		if kind.Serve == nil { // only real servers serve it, or it runs at neither end
			continue
		}
		run := quick()
		run.Mode, run.Size, run.Rate = kind.Modes[0], kind.Size.Default, min(kind.Rate, 5e6)
		out := enough(t, server, client, kind, run, address(5301+n))
		_, served := out.Server.Metrics[kind.Headline]
		_, sent := out.Client.Metrics[kind.Headline]
		if served == sent {
			t.Errorf("%s: the metric %s is with the server: %t, with the client: %t", kind.Name, kind.Headline, served, sent)
		}
		owner, other := out.Client, out.Server
		if served {
			owner, other = other, owner
		}
		least := run.Duration
		if kind.Sizes != "" { // the window is that of one size
			least = 1
		}
		labtest.NotEqual(t, kind.Name+": CPU of the window's owner", owner.CPU, nil)
		labtest.Equal(t, kind.Name+": CPU of the other end", other.CPU, nil)
		labtest.AtLeast(t, kind.Name+": window", owner.Window, least)
		labtest.MoreThan(t, kind.Name+": work", owner.Work, 0)
	}
}

// enough is a run in which enough was done for its headline: of a busy machine a window is longer.
func enough(t *testing.T, server, client *Handle, kind workload.Workload, run workload.Run, at string) Outcome {
	t.Helper()
	for tries := 7; ; tries-- {
		out, err := Measure(context.Background(), server, client, kind.Name, run, at, at)
		if err != nil {
			t.Fatalf("%s: %v", kind.Name, err)
		}
		_, served := out.Server.Metrics[kind.Headline]
		_, sent := out.Client.Metrics[kind.Headline]
		if done := served && out.Server.Work > 0 || sent && out.Client.Work > 0; done || tries == 1 {
			return out
		}
		labtest.TryAgain(t, "%s: too little was done in %v", kind.Name, run.Duration)
		run.Duration *= 2
	}
}

// TestManyFlows asks for more data threads than an agent has processors for at
// first.
func TestManyFlows(t *testing.T) {
	server, client := start(t, "h1"), start(t, "h2")
	run := quick()
	run.Flows = threads + 10
	at := address(5312)
	if _, err := Measure(context.Background(), server, client, "tcp_rr", run, at, at); err != nil {
		t.Error(err)
	}
}

func TestWrongRequests(t *testing.T) {
	for line, want := range map[string]string{
		`{"id":7,"do":"serve"}`: "no job",
		`{"id":7,"do":"serve","job":{"workload":"smoke","address":"127.0.0.1:1"}}`:           `"smoke": unknown to this agent`,
		`{"id":7,"do":"serve","job":{"workload":"tcp_rr","address":"nowhere"}}`:              "ip:port",
		`{"id":7,"do":"dance","job":{"workload":"tcp_rr","address":"127.0.0.1:1"}}`:          `"dance": unknown to this agent`,
		`{"id":7,"do":"send","job":{"workload":"tcp_rr","address":"127.0.0.1:1"}}`:           "32 hexadecimal digits",
		`{"id":7,"do":"serve","job":{"workload":"tcp_rr","address":"192.0.2.1:1","run":{}}}`: "token",
	} {
		if r := ask(t, line); r.ID != 7 || r.Tally != nil || !strings.Contains(r.Error, want) {
			t.Errorf("%s: reply %+v does not hold %q", line, r, want)
		}
	}
	err := Serve(context.Background(), strings.NewReader("well?\n"), io.Discard, "1.2.3")
	if err == nil || !strings.Contains(err.Error(), "read request") {
		t.Errorf("a malformed request: %v", err)
	}
}

// TestTallyThatJSONCannotRepresent holds that such a tally still gets a reply.
func TestTallyThatJSONCannotRepresent(t *testing.T) {
	var out strings.Builder
	a := &Agent{stream: protocol.NewStream(nil, &out)}
	zero := 0.0
	a.reply(Reply{Reply: protocol.Reply{ID: 3}, Tally: &workload.Tally{Work: 1 / zero}})
	var got Reply
	if err := protocol.NewStream(strings.NewReader(out.String()), nil).Read(&got); err != nil || got.ID != 3 || got.Error == "" {
		t.Errorf("it replies %q", out.String())
	}
}

// TestNothingStaysBehind runs, fails and ends agents, and counts goroutines.
func TestNothingStaysBehind(t *testing.T) {
	before, limit := runtime.NumGoroutine(), time.Now().Add(labtest.Generous)
	t.Run("use", func(t *testing.T) {
		server, client := start(t, "h1"), start(t, "h2")
		at := address(5310)
		for n := range 10 {
			dial := at
			if n%2 == 1 {
				dial = address(5311) // nobody listens there
			}
			_, err := Measure(context.Background(), server, client, "tcp_rr", quick(), at, dial)
			if (err == nil) != (dial == at) {
				t.Errorf("run %d: %v", n, err)
			}
		}
	})
	for range time.Tick(20 * time.Millisecond) { // goroutines that are ending take their time
		if runtime.NumGoroutine() <= before {
			return
		}
		if time.Now().After(limit) {
			break
		}
	}
	stacks := make([]byte, 1<<16)
	t.Errorf("%d goroutines before, %d now:\n%s", before, runtime.NumGoroutine(), stacks[:runtime.Stack(stacks, true)])
}

// Of two machines, the CPU time is that of both, or of one, which is named.
func TestCPUOfTwoMachinesIsNamed(t *testing.T) {
	one := workload.Tally{CPU: &workload.CPU{Busy: 1}, Window: time.Second, Work: 1}
	other := workload.Tally{CPU: &workload.CPU{Busy: 6, Over: 2}}
	both := Outcome{Server: one, Client: other, Apart: true}.Sample()
	labtest.Equal(t, "busy seconds of the sender in a window of 1 s", both.Counters["cpu_busy_sender"], 3.0)
	labtest.Equal(t, "busy seconds of both", both.Counters["cpu_busy"], 4.0)
	labtest.Equal(t, "warnings of both", len(both.Warnings), 0)
	for want, out := range map[string]Outcome{
		"":                       {Server: one},
		"the server's machine a": {Server: one, Apart: true},
		"the sender's machine a": {Client: one, Apart: true},
	} {
		warned := strings.Join(out.Sample().Warnings, "\n")
		if (want == "") != (warned == "") || !strings.Contains(warned, want) {
			t.Errorf("warnings %q, want one with %q", warned, want)
		}
	}
}
