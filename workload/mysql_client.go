package workload

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
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

// selectPoints opens the run's connections and lets each select one row after
// another, on a thread of its own as sysbench does, until the window closes.
func selectPoints(ctx context.Context, run Run, to netip.AddrPort) (points, error) {
	done := points{latency: traffic.NewHistogram()}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(clientMemory))
	sessions := make([]*session, run.Flows)
	defer func() {
		for _, s := range sessions {
			s.close()
		}
	}()
	err := together(sessions, func(n int) (err error) {
		sessions[n], err = openSession(ctx, to)
		return err
	})
	if err != nil {
		return done, fmt.Errorf("connect to %v: %w", to, err)
	}
	if done.congestion, err = sessions[0].congestion(); err != nil {
		return done, err
	}
	stop := context.AfterFunc(ctx, func() {
		for _, s := range sessions {
			s.interrupt()
		}
	})
	defer stop()
	table := &pointTable{run: run, opens: time.Now().Add(run.Warmup)}
	err = together(sessions, func(n int) error { return sessions[n].loop(table) })
	if ctx.Err() != nil {
		return done, ctx.Err()
	}
	for _, s := range sessions {
		done.count += s.count
		done.latency.Merge(s.latency)
	}
	return done, err
}

// together does what each session has to do on a thread of its own, and gives
// one of the errors.
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
	for err := range failed {
		if err != nil {
			return err
		}
	}
	return nil
}

// pointTable is the window that all sessions share.
type pointTable struct {
	run   Run
	opens time.Time
	mu    sync.Mutex
	told  int // edges
}

// edge tells the run of the window's opening, and with 2 of its closing too,
// each once.
func (t *pointTable) edge(upTo int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for ; t.told < upTo; t.told++ {
		if t.run.Edge != nil {
			t.run.Edge(t.told == 1)
		}
	}
}

// session is one connection, logged in and with its statement prepared.
type session struct {
	conn    driver.Conn
	socket  *os.File
	query   driver.StmtQueryContext
	count   int64
	latency *traffic.Histogram
}

// openSession connects and logs in.
func openSession(ctx context.Context, to netip.AddrPort) (*session, error) {
	s := &session{latency: traffic.NewHistogram()}
	config := accountConfig(to)
	config.DialFunc = s.dial
	connector, err := sqldriver.NewConnector(config)
	if err != nil {
		return nil, err
	}
	if s.conn, err = connector.Connect(ctx); err != nil {
		return nil, err
	}
	statement, err := s.conn.Prepare(selectPoint)
	if err != nil {
		return nil, errors.Join(err, s.conn.Close())
	}
	s.query = statement.(driver.StmtQueryContext) // as database/sql demands of a driver
	s.socket.Fd()                                 // from here on it blocks: the runtime's poller would add its own to every answer
	return s, nil
}

// accountConfig is how a client logs in at a server.
func accountConfig(to netip.AddrPort) *sqldriver.Config {
	c := sqldriver.NewConfig()
	c.Net, c.Addr = "tcp", to.String()
	c.User, c.Passwd, c.DBName = accountUser, accountPassword, accountDatabase
	c.CheckConnLiveness = false // it is for connections that lay idle
	c.Logger = &sqldriver.NopLogger{}
	return c
}

// dial connects, and keeps the socket.
func (s *session) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if s.socket, err = conn.(*net.TCPConn).File(); err != nil {
		return nil, err
	}
	return connection{s.socket, conn}, nil
}

// connection is a socket as a file, which can be made to block.
type connection struct {
	*os.File
	dialled net.Conn
}

func (c connection) LocalAddr() net.Addr  { return c.dialled.LocalAddr() }
func (c connection) RemoteAddr() net.Addr { return c.dialled.RemoteAddr() }

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

// point selects one row and takes it.
func (s *session) point(id []driver.NamedValue, row []driver.Value) error {
	rows, err := s.query.QueryContext(context.Background(), id)
	if err != nil {
		return err
	}
	return errors.Join(rows.Next(row), rows.Close())
}

func (s *session) congestion() (string, error) {
	name, err := unix.GetsockoptString(int(s.socket.Fd()), unix.IPPROTO_TCP, unix.TCP_CONGESTION)
	if err != nil {
		return "", fmt.Errorf("read TCP_CONGESTION: %w", err)
	}
	return name, nil
}

// interrupt ends what waits for an answer. The error is that of a socket that
// has ended already.
func (s *session) interrupt() { _ = unix.Shutdown(int(s.socket.Fd()), unix.SHUT_RDWR) }

// close logs out; nil, a session that was never opened, has nothing to close.
// The driver's error tells only that the server was faster.
func (s *session) close() {
	if s != nil {
		_ = s.conn.Close()
	}
}
