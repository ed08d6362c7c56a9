package protocol

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tare/test/labtest"
)

// number is a request and a reply.
type number struct {
	Request
	N int `json:"n"`
}

type doubled struct {
	Reply
	N int `json:"n"`
}

// double replies to requests until in ends, with noise between the replies.
func double(in io.Reader, out io.Writer) error {
	s := NewStream(in, out)
	return Serve(s, Greeting{Schema: "test/1"}, func(r *number) error {
		switch r.Do {
		case "double":
			if _, err := io.WriteString(out, "noise\n"); err != nil {
				return err
			}
			return s.Write(doubled{Reply{ID: r.ID}, 2 * r.N})
		case "sleep":
			return nil
		}
		return r.Unknown("doubler")
	})
}

// open starts what serves behind two pipes.
func open(t *testing.T, schema string, besides func(string), serve func(io.Reader, io.Writer) error) (*Peer[doubled], error) {
	t.Helper()
	theirs, in := io.Pipe()
	out, says := io.Pipe()
	go func() { says.CloseWithError(serve(theirs, says)) }()
	end := sync.OnceValue(func() error { return errors.Join(in.Close(), out.Close()) })
	p, err := Open[doubled](t.Context(), Far{
		Kind: "doubler", Name: "h1", Schema: schema, Died: "it died", GreetingWait: time.Second, EndWait: time.Second, Besides: besides, End: end,
	}, in, out, &Greeting{})
	if err == nil {
		t.Cleanup(func() { _ = p.Close() })
	}
	return p, err
}

func TestRequestsGetTheirReplies(t *testing.T) {
	var noise strings.Builder
	p, err := open(t, "test/1", func(line string) { noise.WriteString(line) }, double)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for n := range 10 {
		all.Go(func() {
			r, err := p.Ask(t.Context(), 0, &number{Request{Do: "double"}, n})
			labtest.Equal(t, "error", err, nil)
			labtest.Equal(t, "reply", r.N, 2*n)
		})
	}
	all.Wait()
	labtest.Equal(t, "lines besides", noise.String(), strings.Repeat("noise", 10))
	_, err = p.Ask(t.Context(), 0, &number{Request: Request{Do: "dance"}})
	labtest.Equal(t, "error of what is unknown", fmt.Sprint(err), `at h1: request "dance": unknown to this doubler`)
	labtest.Equal(t, "one that was asked to leave", p.Send(Request{Do: Leave}), nil)
	<-p.Gone()
	labtest.Equal(t, "why it is gone", p.Broken().Error(), "doubler at h1: it died")
}

// What is no message ends a peer that has no use for it.
func TestNoiseIsRefused(t *testing.T) {
	p, err := open(t, "test/1", nil, double)
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Ask(t.Context(), 0, &number{Request: Request{Do: "double"}})
	if broken := new(BrokenError); !errors.As(err, &broken) {
		t.Fatalf("error %v", err)
	}
	labtest.Contains(t, "error", err.Error(), `doubler at h1: it sent what no doubler sends: "noise": it is not message 2`)
}

func TestAnotherProtocolIsRefused(t *testing.T) {
	_, err := open(t, "test/2", nil, double)
	labtest.Equal(t, "error", fmt.Sprint(err), `doubler at h1: its protocol is "test/1" and that of this tare is "test/2": use the same version at both ends`)
}

// A peer that does not reply in time is broken; a caller that no longer waits breaks nothing.
func TestSilentPeerIsBroken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, err := open(t, "test/1", nil, double)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err = p.Ask(ctx, 0, &number{Request: Request{Do: "sleep"}})
		labtest.Equal(t, "error", err, error(context.DeadlineExceeded))
		labtest.Equal(t, "is broken", p.Broken(), nil)
		begun := time.Now()
		_, err = p.Ask(t.Context(), time.Second, &number{Request: Request{Do: "sleep"}})
		labtest.Equal(t, "error", fmt.Sprint(err), "doubler at h1: no answer for 1s: the way there may be cut, or its machine stopped")
		labtest.Equal(t, "time", time.Since(begun), time.Second)
		_, err = p.Ask(t.Context(), time.Second, &number{})
		labtest.Equal(t, "error of the next request", err, p.Broken())
		_ = p.Close()
		synctest.Wait()
	})
}
