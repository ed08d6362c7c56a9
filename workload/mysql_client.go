package workload

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	sqldriver "github.com/go-sql-driver/mysql"
	"golang.org/x/sys/unix"

	"tare/traffic"
)

// clientMemory is how much our client of mysql may hold before it collects its
// garbage, some 150 bytes for each select.
const clientMemory = 256 << 20

// mostDialling is how many sessions connect at the same time. More of them overflow the
// server's queue of new connections: some then wait for seconds, or find theirs reset
// before the server could give a reason.
const mostDialling = 32

// loginWait is how long a server may take to log a session in, beside as many others.
const loginWait = 30 * time.Second

// selectPoints opens the run's connections and lets each select one row after
// another, each on its own thread as in sysbench, until the window closes.
func selectPoints(ctx context.Context, run Run, to netip.AddrPort) (points, error) {
	done := points{latency: traffic.NewHistogram(), elapsed: run.Duration}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(clientMemory))
	sessions := make([]*session, run.Flows)
	defer func() {
		for _, s := range sessions {
			s.close()
		}
	}()
	dialling := make(chan struct{}, mostDialling)
	err := together(sessions, func(n int) (err error) {
		dialling <- struct{}{}
		defer func() { <-dialling }()
		sessions[n], err = openSession(ctx, to)
		return err
	})
	if err != nil {
		return done, fmt.Errorf("connect to %v: %w", to, err)
	}
	if done.congestion, err = sessions[0].congestion(); err != nil {
		return done, err
	}
	interrupted := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		for _, s := range sessions {
			s.interrupt()
		}
		close(interrupted)
	})
	defer func() {
		if !stop() {
			<-interrupted // a descriptor that is closed may soon be another's
		}
	}()
	if run.Slots != nil {
		err = done.inSlots(ctx, run, sessions)
	} else {
		table := &pointTable{run: run, opens: time.Now().Add(run.Warmup)}
		err = together(sessions, func(n int) error { return sessions[n].loop(table) })
	}
	if ctx.Err() != nil {
		return done, ctx.Err()
	}
	for _, s := range sessions {
		done.count += s.count
		done.latency.Merge(s.latency)
	}
	return done, err
}

// inSlots lets each session select in the slots of the run.
func (p *points) inSlots(ctx context.Context, run Run, sessions []*session) error {
	clients := make([]*traffic.Client, len(sessions))
	err := together(sessions, func(n int) (err error) {
		if clients[n], err = traffic.InSlots(ctx, run.window(), n == 0); err != nil {
			return err
		}
		return errors.Join(sessions[n].turns(clients[n]), clients[n].Close())
	})
	if err != nil {
		return err
	}
	var longest time.Duration
	for n, c := range clients {
		var elapsed time.Duration
		sessions[n].count, elapsed = c.AddTo(&p.taken)
		sessions[n].latency = c.Latency()
		longest = max(longest, elapsed)
	}
	p.elapsed = longest
	return nil
}

// together does what each session has to do on a separate thread, and returns
// one of the errors: where the server gave a reason, that of one whose connection
// broke says less.
func together(sessions []*session, do func(n int) error) error {
	failed := make(chan error, len(sessions))
	var all sync.WaitGroup
	for n := range sessions {
		all.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			failed <- do(n)
		})
	}
	all.Wait()
	close(failed)
	var first error
	for err := range failed {
		if refused := new(sqldriver.MySQLError); errors.As(err, &refused) {
			return err
		}
		if first == nil {
			first = err
		}
	}
	return first
}

// pointTable is the window that all sessions share.
type pointTable struct {
	run   Run
	opens time.Time
	mu    sync.Mutex
	edges int // that the run knows of
}

// edge reports the window's opening to the run, and with 2 its closing too,
// each once.
func (t *pointTable) edge(upTo int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for ; t.edges < upTo; t.edges++ {
		if t.run.Edge != nil {
			t.run.Edge(t.edges == 1)
		}
	}
}

// session is one connection, logged in and with its statement prepared.
type session struct {
	conn    driver.Conn
	opening context.Context // ends what the server does not answer; nil: it has logged in
	socket  int
	query   driver.StmtQueryContext
	count   int64
	latency *traffic.Histogram
}

// openSession connects and logs in.
func openSession(ctx context.Context, to netip.AddrPort) (*session, error) {
	silent := fmt.Errorf("%w: a server that has as many connections as it may have files open greets no other: lower --connections, or raise the limit (ulimit -n)", traffic.ErrSilent)
	ctx, cancel := context.WithTimeoutCause(ctx, loginWait, silent)
	defer cancel()
	s := &session{latency: traffic.NewHistogram(), opening: ctx}
	config := accountConfig(to)
	config.DialFunc = s.dial
	connector, err := sqldriver.NewConnector(config)
	if err != nil {
		return nil, err
	}
	// The driver would close a socket that a thread still reads, and whose number is the next one's.
	if s.conn, err = connector.Connect(context.WithoutCancel(ctx)); err != nil {
		return nil, cmp.Or(context.Cause(ctx), err) // the driver says only that the connection broke
	}
	statement, err := s.conn.Prepare(selectPoint)
	if err != nil {
		return nil, errors.Join(cmp.Or(context.Cause(ctx), err), s.conn.Close())
	}
	s.query = statement.(driver.StmtQueryContext) // as database/sql demands of a driver
	s.opening = nil
	return s, nil
}

// accountConfig is how a client logs in at a server.
func accountConfig(to netip.AddrPort) *sqldriver.Config {
	c := sqldriver.NewConfig()
	c.Net, c.Addr = "tcp", to.String()
	c.User, c.Passwd, c.DBName = accountUser, accountPassword, accountDatabase
	c.CheckConnLiveness = false // it is for connections that were idle
	c.Logger = &sqldriver.NopLogger{}
	return c
}

// dial connects, and keeps the socket.
func (s *session) dial(_ context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(s.opening, network, address)
	if err != nil {
		return nil, err
	}
	if s.socket, err = traffic.AdoptSocket(conn.(*net.TCPConn)); err != nil {
		return nil, err
	}
	return connection{Conn: conn, of: s}, nil
}

// connection is a socket whose calls block its thread, and of which the
// runtime's poller and its monitor know nothing: each would add its own to every
// answer. Of the Conn that it was it has the addresses alone.
type connection struct {
	net.Conn
	of *session
}

// Read waits for what arrives, at the end for io.EOF.
func (c connection) Read(p []byte) (int, error) {
	for {
		n, errno := traffic.Receive(c.of.socket, p, 0)
		switch {
		case traffic.Waited(errno) && c.of.opening != nil && c.of.opening.Err() != nil:
			return 0, context.Cause(c.of.opening)
		case traffic.Waited(errno):
		case errno != 0:
			return 0, errno
		case n == 0 && len(p) > 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

// Write sends all of p.
func (c connection) Write(p []byte) (sent int, err error) {
	for sent < len(p) {
		n, errno := traffic.Send(c.of.socket, p[sent:], 0)
		if errno != 0 && !traffic.Waited(errno) {
			return sent, errno
		}
		sent += n
	}
	return sent, nil
}

// Close frees the socket.
func (c connection) Close() error {
	traffic.CloseSocket(c.of.socket)
	return nil
}

// loop selects until the window has closed. What it counts ended inside.
func (s *session) loop(t *pointTable) error {
	id := []driver.NamedValue{{Ordinal: 1}}
	row := make([]driver.Value, 1)
	closes := t.opens.Add(t.run.Duration)
	for began := time.Now(); ; {
		id[0].Value = 1 + rand.Int64N(pointRows)
		if err := s.point(id, row); err != nil {
			return fmt.Errorf("select a row: %w; see what the server logged", err)
		}
		now := time.Now()
		if !now.Before(closes) {
			t.edge(2)
			return nil
		}
		if !now.Before(t.opens) {
			if s.count == 0 {
				t.edge(1)
			}
			s.count++
			s.latency.Record(now.Sub(began))
		}
		began = now
	}
}

// turns selects in the session's slots.
func (s *session) turns(c *traffic.Client) error {
	id := []driver.NamedValue{{Ordinal: 1}}
	row := make([]driver.Value, 1)
	for began, mine := c.Await(); mine; began, mine = c.Await() {
		id[0].Value = 1 + rand.Int64N(pointRows)
		if err := s.point(id, row); err != nil {
			return fmt.Errorf("select a row: %w; see what the server logged", err)
		}
		c.Count(began)
	}
	return nil
}

// point selects one row and takes it.
func (s *session) point(id []driver.NamedValue, row []driver.Value) error {
	rows, err := s.query.QueryContext(context.Background(), id)
	if err != nil {
		return err
	}
	return errors.Join(rows.Next(row), rows.Close())
}

func (s *session) congestion() (string, error) { return traffic.Congestion(s.socket) }

// interrupt ends what waits for an answer. The error is that of a socket that
// has ended already.
func (s *session) interrupt() { _ = unix.Shutdown(s.socket, unix.SHUT_RDWR) }

// close logs out; nil, a session that was never opened, has nothing to close.
// The driver's error means only that the server was faster.
func (s *session) close() {
	if s != nil {
		_ = s.conn.Close()
	}
}
