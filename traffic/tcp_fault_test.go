package traffic

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"tare/test/labtest"
)

// reportWithin is how soon both ends must report a fault, in a deep test.
const reportWithin = 5 * time.Second

// bulkRun is one of the bulk workloads, far longer than any fault takes.
type bulkRun struct {
	serve func(context.Context, *Listener, Window) error
	drive func(context.Context, netip.AddrPort, Window) error
}

func bulkRuns() map[string]bulkRun {
	stream := func(s TCPStream) bulkRun {
		s.Token = testToken
		return bulkRun{
			func(ctx context.Context, l *Listener, w Window) error {
				s.Window = w
				_, err := ServeTCPStream(ctx, l, s)
				return err
			},
			func(ctx context.Context, to netip.AddrPort, w Window) error {
				s := s
				s.Window = w
				_, err := SendTCPStream(ctx, to, s)
				return err
			},
		}
	}
	sizes := TCPSizes{Token: testToken, Sizes: []int{64, 128 << 10}}
	return map[string]bulkRun{
		"stream":   stream(TCPStream{}),
		"paced":    stream(TCPStream{Rate: 20e6, Flows: 2}),
		"reverse":  stream(TCPStream{Rate: 20e6, Direction: Reverse}),
		"bothways": stream(TCPStream{Rate: 20e6, Direction: Bidirectional}),
		"tcp_sizes": {
			func(ctx context.Context, l *Listener, w Window) error {
				s := sizes
				s.Window = w
				_, err := ServeTCPSizes(ctx, l, s)
				return err
			},
			func(ctx context.Context, to netip.AddrPort, w Window) error {
				s := sizes
				s.Window = w
				_, err := SendTCPSizes(ctx, to, s)
				return err
			},
		},
	}
}

// TestLabFaultsAreSaid breaks the path, or an end, in the middle of a run.
func TestLabFaultsAreSaid(t *testing.T) {
	for name, run := range bulkRuns() {
		for fault, strike := range map[string]func(t *testing.T, p *path, killFar, killNear func()){
			"far end dies":      func(_ *testing.T, _ *path, killFar, _ func()) { killFar() },
			"near end dies":     func(_ *testing.T, _ *path, _, killNear func()) { killNear() },
			"link goes down":    func(t *testing.T, p *path, _, _ func()) { p.cutLink(t) },
			"packets are eaten": func(t *testing.T, p *path, _, _ func()) { p.eatPackets(t) },
		} {
			t.Run(name+"/"+fault, func(t *testing.T) {
				t.Parallel()
				p := newPath(t)
				serving, killFar := context.WithCancel(t.Context())
				driving, killNear := context.WithCancel(t.Context())
				defer killFar()
				defer killNear()
				begun := make(chan struct{}, 2)
				window := Window{Warmup: 100 * time.Millisecond, Duration: time.Hour, Edge: func(Edge) { begun <- struct{}{} }}
				far, near := make(chan error, 1), make(chan error, 1)
				listening := make(chan netip.AddrPort, 1)
				go p.far.in(t, func() {
					l, err := ListenTCP(p.to)
					if err != nil {
						t.Error(err)
						close(listening)
						return
					}
					listening <- l.Addr()
					far <- run.serve(serving, l, window)
					if err := l.Close(); err != nil {
						t.Error(err)
					}
				})
				to := <-listening
				go p.near.in(t, func() { near <- run.drive(driving, to, window) })
				select {
				case <-begun:
				case err := <-near:
					t.Fatalf("the run ended by itself: %v", err)
				}
				struck := time.Now()
				strike(t, p, killFar, killNear)
				for end, errs := range map[string]chan error{"far": far, "near": near} {
					select {
					case err := <-errs:
						killed := errors.Is(err, context.Canceled)
						if err == nil || killed != (fault == end+" end dies") {
							t.Errorf("the %s end reports: %v", end, err)
						}
						if !killed && !strings.Contains(err.Error(), "see ") && !strings.Contains(err.Error(), "stopped") {
							t.Errorf("the %s end does not say what to do: %v", end, err)
						}
					case <-time.After(labtest.Generous):
						t.Errorf("the %s end reported nothing for %v", end, labtest.Generous)
						killFar()
						killNear()
						<-errs
					}
				}
				labtest.InTime(t, "the reports", time.Since(struck), reportWithin)
			})
		}
	}
}
