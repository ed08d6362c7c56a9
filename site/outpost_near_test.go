package site

import (
	"errors"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tare/agent"
	"tare/protocol"
	"tare/test/labtest"
)

// silent is an outpost that greets and starts agents, and gives no answer.
func silent(t *testing.T) *farOutpost {
	t.Helper()
	theirs, in := io.Pipe()
	out, says := io.Pipe()
	go func() {
		stream := protocol.NewStream(theirs, says)
		_ = protocol.Serve(stream, protocol.Greeting{Schema: outpostSchema}, func(r *outpostRequest) error {
			if r.Do != doStart {
				return nil
			}
			return protocol.NewStream(theirs, &passing{stream, r.ID}).Write(protocol.Greeting{Schema: agent.Schema})
		})
	}()
	end := sync.OnceValue(func() error { return errors.Join(in.Close(), says.Close()) })
	o, err := openOutpost(t.Context(), "h1", replyWait, in, out, end)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// A place that gives no answer any more is named, and is lost for the run, with its agents.
func TestPlaceThatStopsIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &Endpoints{
			outposts: map[string]*farOutpost{"h1": silent(t)}, agents: map[string]*agent.Handle{},
			asked: map[string]time.Time{"h1": time.Now()},
		}
		h, err := e.Agent(t.Context(), "host.h1", "server")
		if err != nil {
			t.Fatal(err)
		}
		e.asked["h1"] = time.Now().Add(-2 * fresh) // so that it is asked again
		for _, within := range []time.Duration{replyWait, 0} {
			begun := time.Now()
			_, err = e.Agent(t.Context(), "host.h1", "server")
			labtest.Equal(t, "took", time.Since(begun), within)
			if err == nil {
				t.Fatal("an agent is there")
			}
			labtest.Contains(t, "error", err.Error(), "outpost at h1: no answer for 10s")
			if broken := new(protocol.BrokenError); !errors.As(err, &broken) {
				t.Errorf("the run goes on to ask there: %v", err)
			}
		}
		synctest.Wait()
		if h.Broken() == nil {
			t.Error("the agent that was there seems to work")
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
}

// What sends no greeting is no outpost.
func TestPlaceWithoutAGreeting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out, says := io.Pipe()
		begun := time.Now()
		_, err := openOutpost(t.Context(), "h1", replyWait, io.Discard, out, says.Close)
		if err == nil {
			t.Fatal("an outpost is there")
		}
		labtest.Equal(t, "error", err.Error(), "outpost at h1: it sent nothing for 10s")
		labtest.Equal(t, "took", time.Since(begun), replyWait)
		if err := says.Close(); err != nil { // as the caller does, which ends the command
			t.Error(err)
		}
	})
}
