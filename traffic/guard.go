package traffic

import (
	"time"

	"golang.org/x/sys/unix"
)

// Guard ends the calls of threads that wait on sockets without a timeout. A
// timeout of the socket's own would cost each call the setting of a timer.
type Guard struct {
	done, gone chan struct{}
	late       bool // it ended the calls for their time; valid once ended
}

// StartGuard shuts the sockets down when the run is stopped, when limit has
// passed on its clock, or when the meters have counted nothing for grace, beyond
// their rest between two turns. Without meters silence is no reason.
func StartGuard(r *Run, fds []int, limit time.Duration, meters ...*Meter) *Guard {
	g := &Guard{done: make(chan struct{}), gone: make(chan struct{})}
	go func() {
		defer close(g.gone)
		if g.watch(r, limit, meters) {
			for _, fd := range fds {
				// It fails only where the peer has ended the connection already.
				_ = unix.Shutdown(fd, unix.SHUT_RDWR)
			}
		}
	}()
	return g
}

// watch waits for a reason to end the calls; false: there was none until end.
func (g *Guard) watch(r *Run, limit time.Duration, meters []*Meter) bool {
	look := time.NewTicker(Grace / 8)
	defer look.Stop()
	var passed int64
	moved, patience := r.Now(), time.Duration(Grace)
	for _, m := range meters {
		patience = Grace + m.table.Slots.Silence()
	}
	for {
		select {
		case <-g.done:
			return false
		case <-r.ctx.Done():
			return true
		case <-look.C:
		}
		var sum int64
		for _, m := range meters {
			sum += m.Total()
		}
		now := r.Now()
		if sum != passed || len(meters) == 0 {
			passed, moved = sum, now
		}
		if g.late = now-moved > patience || now > limit; g.late || r.Stopped() {
			return true
		}
	}
}

// End ends the guard, and reports whether it ended the calls because they lasted
// too long.
func (g *Guard) End() (late bool) {
	close(g.done)
	<-g.gone
	return g.late
}
