// Package traffic is the engine of the hot loops on sockets: the clock of a run, its window
// and slots, what is counted in them, sockets, and the loops of requests and responses that
// several workloads share. The loops of the workloads are in the folders below, one for each
// workload or family, of which none imports another.
//
// Each workload has a serving end (Serve), which listens, and a driving end
// (Send or Call), which connects. The ends share no memory and no clock
// and may be on different machines; a NAT or a proxy may be between them.
// A peer authenticates by the run's token. Connections and datagrams without it
// are dropped and counted as unauthenticated.
//
// Every call runs in the namespace and on the CPUs of its process. It ends
// within warm-up + duration + a few seconds, whatever the peer does. Waiting
// for a peer that has not come yet ends with the context, and so does a run
// under way. Data threads use blocking sockets on locked threads, outside the
// netpoller, and allocate nothing inside the window; but for tls, which allocates, and for
// grpc, whose library has the netpoller and goroutines too.
//
// Two things are left to the calling process. It keeps the garbage collector
// off (debug.SetGCPercent(-1)) and collects only while no call is under way, nor
// does it then stop the world by other means: a data thread waits for its peer
// where the runtime can't reach it, and the world would wait with it. And it
// sets GOMAXPROCS to Processors or more, even on one CPU. Calls fail where
// either is not so.
package traffic

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

// Hex is the token as text carries it.
func (t *Token) Hex() string { return hex.EncodeToString(t[:]) }

// Token is the secret of one run. Both ends get the same sixteen random bytes.
type Token [16]byte

// BitsPerSecond counts payload bits, without any header.
type BitsPerSecond float64

// Window is when an end measures. The end that owns the window opens it
// Warmup after the first data passed on all flows. Both ends get the same
// Warmup and Duration; the other end bounds its waiting with them.
type Window struct {
	Warmup   time.Duration
	Duration time.Duration

	// Interval is the step of the series. Zero: no series.
	Interval time.Duration

	// Idle is how long the flows of tcp_rr and udp_rr rest, once they are open, before the first message.
	Idle time.Duration

	// CC is the congestion control to set on the run's TCP sockets. Empty: as the route or the
	// machine has it.
	CC string

	// Slots are those parts of the run that count, where it takes turns with
	// others. Warmup and Duration are then those of the whole timetable. Nil: all
	// of the window counts.
	Slots *Slots

	// Edge is called by the end that owns the window when it opens and, after
	// that call has returned, when it closes: on a data thread, with several
	// flows not always the same one. Where slots count it is called for the window
	// before them or, without one, for each of them; one without an event after its
	// end never closes. It must be cheap. It may be nil. A run that fails may never
	// close its window.
	Edge func(Edge)
}

// Edge is one end of a window.
type Edge int

// The two ends.
const (
	Opening Edge = iota
	Closing
)

// Point is one step of a series: what was counted from the window's first
// point until At. At counts from the window's opening.
type Point struct {
	At    time.Duration
	Count int64
}

const (
	// Tick is the timeout of every blocking call: how soon a data thread
	// notices a stop, and how long an edge of the window can be overlooked.
	Tick = 10 * time.Millisecond

	// FirstFlow is how long a serving end waits for the first of a run's flows, which its
	// sender was asked to open at once.
	FirstFlow = 10 * time.Second
	// Grace is how long an end waits for a peer beyond what the run needs.
	Grace = 3 * time.Second

	// DrainLimit is how long a receiver empties the path after its window.
	DrainLimit = 2 * time.Second

	// StallLimit is how long a path may carry nothing at all before the run ends.
	StallLimit = 3 * time.Second

	// MaxFlows is the most flows of a run.
	MaxFlows = 1024
)

// Why a call ends that nothing else explains.
var (
	ErrSilent  = errors.New("no answer in time")   // of a peer that is there
	ErrAnother = errors.New("another flow failed") // of a thread that ends for it
)

// Processors is the least GOMAXPROCS for an end of so many flows; with less,
// its calls fail. A data thread keeps its processor while it is blocked in the
// kernel; the sampler, the caller and the runtime need more.
func Processors(flows int) int { return flows + 4 }

// Check refuses a window that can't be measured, or not on so many flows.
func (w Window) Check(flows int) error {
	have, want := runtime.GOMAXPROCS(0), Processors(flows)
	switch {
	case have < want:
		return fmt.Errorf("GOMAXPROCS is %d: set it to %d for %d flows", have, want, flows)
	case collecting():
		return errors.New("the garbage collector is on: turn it off with debug.SetGCPercent(-1)")
	case w.Duration <= 0:
		return errors.New("the window's duration must be positive")
	case w.Idle < 0 || w.Warmup < 0 || w.Interval < 0:
		return errors.New("the window's rest, warm-up and interval must not be negative")
	case w.Interval > 0 && w.Duration/w.Interval > 1<<16:
		return errors.New("the window's interval is too short for its duration")
	}
	return w.Slots.check()
}

// collecting reports whether the garbage collector may start by itself.
func collecting() bool {
	percent := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(percent)
	return percent[0].Value.Uint64() != math.MaxUint64
}

// Limit is the longest that a run may take once both ends are there.
func (w Window) Limit() time.Duration {
	return w.Idle + w.Warmup + w.Duration + Grace
}

// Run is what the threads of one call share: a clock, and the order to stop.
type Run struct {
	ctx     context.Context
	base    time.Time
	stopped atomic.Bool
	release func() bool
}

// StartRun begins a call. It watches ctx until End.
func StartRun(ctx context.Context) *Run {
	r := &Run{ctx: ctx, base: time.Now()}
	r.release = context.AfterFunc(ctx, r.Stop)
	return r
}

// Now is the monotonic time since the run's start.
func (r *Run) Now() time.Duration { return time.Since(r.base) }

// Stop makes the threads of the call end.
func (r *Run) Stop() { r.stopped.Store(true) }

// Rest waits, unless the threads of the call must end.
func (r *Run) Rest(d time.Duration) error {
	for until := r.Now() + d; r.Now() < until; Sleep(Tick) {
		if r.Stopped() {
			return r.Cause(context.Canceled)
		}
	}
	return nil
}

// Context is that of the call.
func (r *Run) Context() context.Context { return r.ctx }

// Stopped reports whether the threads of the call must end.
func (r *Run) Stopped() bool { return r.stopped.Load() }

// End lets the context go. Every run that was started is ended.
func (r *Run) End() { r.release() }

// Cause gives the context's error where there is one, since what else went
// wrong then follows from it, and err otherwise.
func (r *Run) Cause(err error) error {
	if r.ctx.Err() != nil {
		return fmt.Errorf("stopped: %w", context.Cause(r.ctx))
	}
	return err
}

// During adds to an error what failed.
func During(what string, err *error) {
	if *err != nil {
		*err = fmt.Errorf("%s: %w", what, *err)
	}
}
