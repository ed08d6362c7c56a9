package traffic_test

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"tare/test/labtest"
	"tare/test/traffictest"
	"tare/traffic"
	"tare/traffic/tcpsizes"
	"tare/traffic/tcpstream"
)

// bulkRun is one of the bulk workloads, far longer than any fault takes.
type bulkRun struct {
	serve func(context.Context, *traffic.Listener, traffic.Window) error
	drive func(context.Context, netip.AddrPort, traffic.Window) error
}

func bulkRuns() map[string]bulkRun {
	stream := func(s tcpstream.Options) bulkRun {
		s.Token = traffictest.Token
		return bulkRun{
			func(ctx context.Context, l *traffic.Listener, w traffic.Window) error {
				s.Window = w
				_, err := tcpstream.Serve(ctx, l, s)
				return err
			},
			func(ctx context.Context, to netip.AddrPort, w traffic.Window) error {
				s := s
				s.Window = w
				_, err := tcpstream.Send(ctx, to, s)
				return err
			},
		}
	}
	sizes := tcpsizes.Options{Token: traffictest.Token, Sizes: []int{64, 128 << 10}}
	return map[string]bulkRun{
		"stream":   stream(tcpstream.Options{}),
		"paced":    stream(tcpstream.Options{Rate: 20e6, Flows: 2}),
		"reverse":  stream(tcpstream.Options{Rate: 20e6, Direction: tcpstream.Reverse}),
		"bothways": stream(tcpstream.Options{Rate: 20e6, Direction: tcpstream.Bidirectional}),
		"tcp_sizes": {
			func(ctx context.Context, l *traffic.Listener, w traffic.Window) error {
				s := sizes
				s.Window = w
				_, err := tcpsizes.Serve(ctx, l, s)
				return err
			},
			func(ctx context.Context, to netip.AddrPort, w traffic.Window) error {
				s := sizes
				s.Window = w
				_, err := tcpsizes.Send(ctx, to, s)
				return err
			},
		},
	}
}

// TestLabFaultsAreSaid breaks the path, or an end, in the middle of a run.
func TestLabFaultsAreSaid(t *testing.T) {
	for name, run := range bulkRuns() {
		for fault, strike := range map[string]func(t *testing.T, p *traffictest.Path, killFar, killNear func()){
			"far end dies":      func(_ *testing.T, _ *traffictest.Path, killFar, _ func()) { killFar() },
			"near end dies":     func(_ *testing.T, _ *traffictest.Path, _, killNear func()) { killNear() },
			"link goes down":    func(t *testing.T, p *traffictest.Path, _, _ func()) { p.CutLink(t) },
			"packets are eaten": func(t *testing.T, p *traffictest.Path, _, _ func()) { p.EatPackets(t) },
		} {
			t.Run(name+"/"+fault, func(t *testing.T) {
				t.Parallel()
				p := traffictest.NewPath(t)
				serving, killFar := context.WithCancel(t.Context())
				driving, killNear := context.WithCancel(t.Context())
				defer killFar()
				defer killNear()
				begun := make(chan struct{}, 2)
				window := traffic.Window{Warmup: 100 * time.Millisecond, Duration: time.Hour, Edge: func(traffic.Edge) { begun <- struct{}{} }}
				far, near := make(chan error, 1), make(chan error, 1)
				listening := make(chan netip.AddrPort, 1)
				go p.Far.In(t, func() {
					l, err := traffic.ListenTCP(p.To)
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
				go p.Near.In(t, func() { near <- run.drive(driving, to, window) })
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
				labtest.InTime(t, "the reports", time.Since(struck), traffictest.ReportWithin)
			})
		}
	}
}
