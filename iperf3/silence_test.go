package iperf3

import (
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// piped is a control connection without a socket, by the clock of a bubble.
type piped struct{ net.Conn }

func (piped) CloseRead() error                      { return nil }
func (piped) SyscallConn() (syscall.RawConn, error) { return nil, errors.New("a pipe has no socket") }

// givesUp wants a test to end with these words, after so long by the bubble's clock.
func givesUp(t *testing.T, after time.Duration, words string, test func(t *testing.T, c *control) error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		c := newControl(t.Context(), piped{ours})
		go func() { _, _ = io.Copy(io.Discard, theirs) }()
		began := time.Now()
		err := test(t, c)
		if took := time.Since(began); err == nil || !strings.Contains(err.Error(), words) || took != after {
			t.Errorf("after %v: %v; want %v and words %q", took, err, after, words)
		}
		c.close()
	})
}

// receiving is a transfer under way whose only flow receives.
func receiving(t *testing.T, p parameters) *transfer {
	t.Helper()
	tr := &transfer{p: p, flows: []*flow{{id: 1}}, base: time.Now(), failure: make(chan error), spent: make(chan struct{})}
	if err := tr.readAt(0, true); err != nil {
		t.Fatal(err)
	}
	return tr
}

// A peer that reads all and says nothing more is given up, at whatever point.
func TestSilentPeersAreGivenUp(t *testing.T) {
	tcp := parameters{TCP: true, Parallel: 2, Time: 60}
	for name, c := range map[string]struct {
		after time.Duration
		words string
		test  func(t *testing.T, c *control) error
	}{
		"a client without parameters": {5 * time.Second, "wait for the parameters: no answer within 5s", func(t *testing.T, c *control) error {
			return (&session{control: c}).agree(t.Context())
		}},
		"a client without flows": {10 * time.Second, "0 of 2 came: no answer within 10s", func(t *testing.T, c *control) error {
			return (&session{control: c, p: tcp}).openTCP(t.Context())
		}},
		"a client whose data stops": {6 * time.Second, "nothing passed on any flow for 5s, after 0 bytes", func(t *testing.T, c *control) error {
			return (&session{control: c, p: tcp, transfer: receiving(t, tcp)}).measure(t.Context())
		}},
		"a client that does not end": {16500 * time.Millisecond, "the client did not end the test within 16s", func(t *testing.T, c *control) error {
			s := &session{control: c, p: parameters{UDP: true, Parallel: 1, Time: 1}}
			s.transfer = receiving(t, s.p)
			s.transfer.flows[0].sends = true // what it sends always goes
			return s.measure(t.Context())
		}},
		"a server without a welcome": {5 * time.Second, "wait for a word of welcome; see whether it is an iperf3 server: no answer within 5s", func(t *testing.T, c *control) error {
			return (&client{control: c, cookie: newCookie()}).agree(t.Context())
		}},
		"a server whose data stops": {6 * time.Second, "nothing passed on any flow for 5s, after 0 bytes", func(t *testing.T, c *control) error {
			test := Test{Duration: time.Minute, Interval: time.Second}
			return (&client{control: c, test: test, p: tcp, transfer: receiving(t, tcp)}).measure(t.Context())
		}},
	} {
		t.Run(name, func(t *testing.T) { givesUp(t, c.after, c.words, c.test) })
	}
}
