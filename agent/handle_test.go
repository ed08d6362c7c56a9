package agent

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tare/protocol"
	"tare/test/labtest"
)

const greets = `{"schema":"` + Schema + `","version":"fake"}`

// framed is what an agent sends as its messages from a number on. What is no JSON is sent as
// it is.
func framed(from int, messages ...string) string {
	var b strings.Builder
	stream := protocol.NewStream(nil, &b)
	for range from - 1 {
		_ = stream.Write(nil) // what came before
	}
	b.Reset()
	for _, body := range messages {
		if !strings.HasPrefix(body, "{") {
			b.WriteString(body)
		} else if err := stream.Write(json.RawMessage(body)); err != nil {
			panic(err)
		}
	}
	return b.String()
}

// soon is how long anything may take that goes wrong, in a deep test.
const soon = 5 * time.Second

// scripted is an agent that sends its greeting, and the messages after its first request; then
// it ends, or stays silent.
func scripted(ends bool, messages ...string) func(io.Reader, io.Writer) error {
	return func(in io.Reader, out io.Writer) error {
		if _, err := io.WriteString(out, framed(1, greets)); err != nil {
			return err
		}
		requests := bufio.NewScanner(in)
		if len(messages) > 0 {
			if !requests.Scan() {
				return requests.Err()
			}
			if _, err := io.WriteString(out, framed(2, messages...)); err != nil {
				return err
			}
		}
		for !ends && requests.Scan() {
		}
		return requests.Err()
	}
}

// wantSoon checks an error's text and, in a deep test, how long it took.
func wantSoon(t *testing.T, started time.Time, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v does not hold %q", err, want)
	}
	labtest.InTime(t, "the error", time.Since(started), soon)
}

func TestOpenRefuses(t *testing.T) {
	for name, test := range map[string]struct{ sends, want string }{
		"dead at once":      {"", "wait for its hello: it died"},
		"another protocol":  {framed(1, `{"schema":"tare.agent/0","version":"0.1"}`), "use the same version at both ends"},
		"an older protocol": {`{"schema":"tare.agent/1","version":"0.1"}` + "\n", "use the same version at both ends"},
		"another program":   {"Welcome to BusyBox\n", "what no agent sends"},
		"an endless line":   {strings.Repeat("x", protocol.MaxMessage+1), "too long"},
		"JSON of any other": {framed(1, "{}"), `its protocol is ""`},
	} {
		t.Run(name, func(t *testing.T) {
			started := time.Now()
			_, err := open(t, "h1", func(in io.Reader, out io.Writer) error {
				_, err := io.WriteString(out, test.sends)
				if errors.Is(err, io.ErrClosedPipe) || err != nil && len(test.sends) > protocol.MaxMessage {
					return nil // nobody reads the end of it
				}
				return err
			})
			wantSoon(t, started, err, test.want)
			wantSoon(t, started, err, "agent at h1")
		})
	}
}

func TestOpenEndsWithTheContext(t *testing.T) {
	p := newPipes(t)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	started := time.Now()
	ended := false
	_, err := Open(ctx, "h1", p.ourIn, p.ourOut, func() error {
		ended = true
		return errors.Join(p.theirIn.Close(), p.theirOut.Close())
	})
	if !errors.Is(err, context.DeadlineExceeded) || !ended {
		t.Errorf("%v, ended: %t", err, ended)
	}
	labtest.InTime(t, "the end", time.Since(started), time.Second)
}

// openHere starts life behind pipes of this process, in which time passes by itself.
func openHere(t *testing.T, name string, live func(io.Reader, io.Writer) error) (*Handle, error) {
	t.Helper()
	theirIn, ourIn := io.Pipe()
	ourOut, theirOut := io.Pipe()
	lived := make(chan error, 1)
	go func() { lived <- errors.Join(live(theirIn, theirOut), theirOut.Close()) }()
	end := sync.OnceValue(func() error { return errors.Join(ourIn.Close(), ourOut.Close(), <-lived) })
	h, err := Open(t.Context(), name, ourIn, ourOut, end)
	if err == nil {
		t.Cleanup(func() { _ = h.Close() })
	}
	return h, err
}

// Time passes by itself here, so that it is known how long an agent was waited for.
func TestSilentAgents(t *testing.T) {
	t.Parallel()
	t.Run("at the greeting", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			started := time.Now()
			_, err := openHere(t, "h1", func(in io.Reader, _ io.Writer) error {
				_, err := io.Copy(io.Discard, in)
				return err
			})
			wantSoon(t, started, err, "it sent nothing for 10s")
			labtest.Equal(t, "time that it had", time.Since(started), greetingWait)
		})
	})
	t.Run("in a job", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			server, errServer := openHere(t, "h1", scripted(false))
			client, errClient := openHere(t, "h2", scripted(false))
			if err := errors.Join(errServer, errClient); err != nil {
				t.Fatal(err)
			}
			started, run := time.Now(), quick()
			_, err := Measure(t.Context(), server, client, "tcp_rr", run, address(5320), address(5320))
			wantSoon(t, started, err, "agent at h1: no answer in time")
			wantSoon(t, started, err, "agent at h1: it hangs")
			labtest.Equal(t, "time that it had", time.Since(started), run.Warmup+run.Duration+patience+stopWait)
			if server.Broken() == nil {
				t.Error("it still passes for a good one")
			}
		})
	})
}

// A silent peer is the workload's to report, since it knows what it waited for; no agent
// hangs. The workload gives up half a second before its agent does.
func TestSilentPeers(t *testing.T) {
	t.Parallel()
	mute, err := net.Listen("tcp", address(5321))
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	server, client := start(t, "h1"), start(t, "h2")
	started := time.Now()
	for range 3 {
		started = time.Now()
		_, err = Measure(context.Background(), server, client, "tcp_rr", quick(), address(5322), address(5321))
		if err == nil || !strings.Contains(err.Error(), "agent at ") {
			break
		}
		labtest.TryAgain(t, "the workload had no CPU for half a second: %v", err)
	}
	wantSoon(t, started, err, "at h2: ")
	wantSoon(t, started, err, "welcome")
	if err := errors.Join(server.Broken(), client.Broken()); err != nil {
		t.Errorf("they are broken: %v", err)
	}
}

// TestFailedServer also holds that the other end is free for the next run.
func TestFailedServer(t *testing.T) {
	listening := func(id int, at string) string { return fmt.Sprintf(`{"id":%d,"listening":%q}`, id, at) }
	one := listening(1, "x")
	for name, test := range map[string]struct {
		ends  bool
		sends []string
		wants string
	}{
		"dies at once":                {true, []string{""}, "agent at h1: it died"},
		"dies in the run":             {true, []string{one}, "agent at h1: it died"},
		"sends no JSON":               {false, []string{"segmentation fault\n"}, "what no agent sends"},
		"answers nobody, then fails":  {false, []string{listening(99, "x"), `{"id":1,"error":"on fire"}`}, "at h1: on fire"},
		"answers over and over":       {false, []string{one, one, one, one, one}, "too many answers to job 1"},
		"sends no tally":              {false, []string{one, `{"id":1}`}, "without a tally"},
		"sends a tally before it can": {false, []string{`{"id":1,"tally":{}}`}, "an end before it listened"},
	} {
		t.Run(name, func(t *testing.T) {
			server, err := open(t, "h1", scripted(test.ends, test.sends...))
			if err != nil {
				t.Fatal(err)
			}
			mute, err := net.Listen("tcp", address(5330)) // so that the client is under way
			if err != nil {
				t.Fatal(err)
			}
			defer mute.Close()
			client := start(t, "h2")
			started := time.Now()
			_, err = Measure(context.Background(), server, client, "tcp_rr", quick(), address(5330), address(5330))
			wantSoon(t, started, err, test.wants)
			labtest.InTime(t, "an error for which no other end is waited for", time.Since(started), time.Second)
			again(t, start(t, "h3"), client)
		})
	}
}

// again does a run that must succeed.
func again(t *testing.T, server, client *Handle) {
	t.Helper()
	if _, err := Measure(context.Background(), server, client, "tcp_rr", quick(), address(5331), address(5331)); err != nil {
		t.Errorf("the next run: %v", err)
	}
}

// TestFailedClient holds that the very next run finds the port free.
func TestFailedClient(t *testing.T) {
	server, client := start(t, "h1"), start(t, "h2")
	for range 20 {
		started := time.Now()
		_, err := Measure(context.Background(), server, client, "tcp_rr", quick(), address(5331), address(5332))
		wantSoon(t, started, err, "at h2: ")
		wantSoon(t, started, err, "refused")
		again(t, server, client)
	}
}

func TestStopEndsARun(t *testing.T) {
	server, client := start(t, "h1"), start(t, "h2")
	for range 3 {
		run := quick()
		run.Duration = time.Hour
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(50*time.Millisecond, cancel)
		started := time.Now()
		_, err := Measure(ctx, server, client, "tcp_rr", run, address(5331), address(5331))
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		labtest.InTime(t, "the end", time.Since(started), time.Second)
		again(t, server, client)
	}
}

func TestBrokenAgentTakesNoRequests(t *testing.T) {
	server, client := start(t, "h1"), start(t, "h2")
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := Measure(context.Background(), server, client, "tcp_rr", quick(), address(5331), address(5331))
	if err == nil || !strings.Contains(err.Error(), "agent at h1: closed") {
		t.Errorf("a closed agent: %v", err)
	}
	again(t, start(t, "h3"), client)
}
