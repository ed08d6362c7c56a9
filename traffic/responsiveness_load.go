package traffic

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/http2"
)

// webLoad is the connections that the load comes on.
type webLoad struct {
	client *webClient
	table  *timetable
	flows  []*webFlow
	open   atomic.Int32 // flows whose window has not closed
}

// webFlow is one of them.
type webFlow struct {
	fd     int // a second descriptor of its socket
	socket net.Conn
	conn   *http2.ClientConn
	meter  *meter // of payload bytes
}

// openLoad opens the connections, one after another.
func openLoad(client *webClient, c Responsiveness) (*webLoad, error) {
	l := &webLoad{client: client, table: newTimetable(c.Window, c.Flows)}
	ctx, cancel := context.WithTimeout(client.run.ctx, grace)
	defer cancel()
	for range c.Flows {
		f, err := client.openFlow(ctx)
		if err != nil {
			l.close()
			return nil, err
		}
		f.meter = newMeter(l.table)
		l.flows = append(l.flows, f)
	}
	l.open.Store(int32(c.Flows))
	return l, nil
}

func (w *webClient) openFlow(ctx context.Context) (_ *webFlow, err error) {
	f := &webFlow{}
	if f.fd, err = dial(w.run, w.to, ""); err != nil {
		return nil, err
	}
	if f.socket, err = polledConn(f.fd); err != nil {
		closeSocket(f.fd)
		return nil, err
	}
	conn, err := w.shake(ctx, f.socket)
	if err == nil {
		f.conn, err = w.transport.NewClientConn(conn)
	}
	if err != nil {
		reset(f.socket)
		closeSocket(f.fd)
		return nil, fmt.Errorf("connect to %v: %w; see what listens there and whether its token is the same", w.to, err)
	}
	return f, nil
}

// close ends the connections. It may be called again.
func (l *webLoad) close() {
	for _, f := range l.flows {
		reset(f.socket)
		closeSocket(f.fd)
	}
	l.flows = nil
}

// carry has the load run until beside has returned, and for its whole window.
func (l *webLoad) carry(beside func(context.Context) error) (*TCPStreamReceived, error) {
	r := l.client.run
	ctx, cancel := context.WithCancelCause(r.ctx)
	defer cancel(nil)
	meters, fds := make([]*meter, len(l.flows)), make([]int, len(l.flows))
	for i, f := range l.flows {
		meters[i], fds[i] = f.meter, f.fd
	}
	watch := startGuard(r, fds, r.now()+l.table.limit(), meters...)
	series := startSampler(r, l.table, meters...)
	var all sync.WaitGroup
	for _, f := range l.flows {
		all.Go(func() {
			if err := l.receive(ctx, f); err != nil {
				cancel(err)
			}
		})
	}
	failed := beside(ctx)
	if failed == nil {
		failed = l.awaitClosing(ctx)
	}
	cancel(failed) // the first cause stays
	all.Wait()
	received := &TCPStreamReceived{Series: series.finish()}
	if late := watch.end(); late && failed != nil {
		failed = fmt.Errorf("the server sent no more: %w; see what it reported", failed)
	}
	for _, f := range l.flows {
		received.Flows = append(received.Flows, FlowReceived{Bytes: f.meter.counted, Elapsed: f.meter.elapsed()})
	}
	return received, failed
}

// receive takes what comes on a flow until the load ends.
func (l *webLoad) receive(ctx context.Context, f *webFlow) error {
	response, err := l.client.ask(ctx, f.conn, largePath)
	if err != nil {
		return err
	}
	defer closeBody(response)
	const most = 64 << 10
	in := prefaulted(most)
	closing := false
	for {
		n, err := response.Body.Read(in)
		now := l.client.run.now()
		f.meter.step(event{at: now, n: int64(n)})
		if err != nil && ctx.Err() != nil {
			for f.meter.atEdge(now) { // of one on which nothing came any more
				f.meter.step(event{at: now})
			}
			return nil
		}
		if err != nil {
			return fmt.Errorf("receive the load: %w", err)
		}
		if !closing && f.meter.phase == closed {
			closing = true
			l.open.Add(-1)
		}
	}
}

// awaitClosing waits until the window of each flow has closed; not for long where nothing comes.
func (l *webLoad) awaitClosing(ctx context.Context) error {
	limit := time.Duration(l.table.opened.Load()) + l.table.Duration + drainLimit
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for l.open.Load() > 0 && l.client.run.now() < limit {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-look.C:
		}
	}
	return nil
}

// carried is the load of all flows until now, in bytes.
func (l *webLoad) carried() int64 {
	var sum int64
	for _, f := range l.flows {
		sum += f.meter.total.Load()
	}
	return sum
}
