package traffic

import (
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"runtime"
	"sync"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/sys/unix"
)

// ServeResponsiveness serves one Responsiveness.
func ServeResponsiveness(ctx context.Context, l *Listener, c Responsiveness) (_ Served, err error) {
	defer during("serve responsiveness", &err)
	if c, err = c.checked(); err != nil {
		return Served{}, err
	}
	certificate, err := issueFor(c.Token)
	if err != nil {
		return Served{}, err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r := startRun(ctx)
	defer r.end()
	a := newAcceptor(r, l, c.Token, greetingLen)
	defer a.close()
	s := &webServer{
		config: &tls.Config{
			Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS13, NextProtos: []string{http2.NextProtoTLS},
			SessionTicketsDisabled: true, // each handshake is a full one
		},
		// What it would log, a client that resets connections, is no fault.
		base: &http.Server{ErrorLog: log.New(io.Discard, "", 0), Handler: answerWeb()},
	}
	serving, stop := context.WithCancel(ctx)
	var open sync.WaitGroup
	visits := sessions{acceptor: a, window: c.Window}
	served, err := visits.admit(func(fd int) {
		conn, err := polledConn(fd)
		closeSocket(fd)
		if err != nil {
			visits.leave(err)
			return
		}
		open.Go(func() { visits.leave(s.visit(serving, conn)) })
	})
	stop()
	open.Wait()
	if err != nil {
		return Served{}, err
	}
	a.close()
	served.Unauthenticated = a.unauthenticated
	return served, nil
}

// webServer is the server of responsiveness.
type webServer struct {
	config *tls.Config
	base   *http.Server
	server http2.Server
}

// visit serves one connection until its client closes it, or the run ends.
func (s *webServer) visit(ctx context.Context, socket net.Conn) error {
	defer socket.Close()
	stop := context.AfterFunc(ctx, func() { socket.Close() })
	defer stop()
	conn := tls.Server(&promptConn{Conn: socket}, s.config)
	if err := conn.HandshakeContext(ctx); err != nil {
		return err
	}
	s.server.ServeConn(&jointConn{Conn: conn}, &http2.ServeConnOpts{Context: ctx, BaseConfig: s.base})
	return nil
}

// answerWeb answers with one byte, or sends without end.
func answerWeb() http.Handler {
	const most = 64 << 10
	body := randomBytes(most)
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header()["Date"] = nil // the draft asks for short responses
		switch request.URL.Path {
		case smallPath:
			_, _ = w.Write(body[:1]) // an error is that the client has gone
		case largePath:
			for {
				if _, err := w.Write(body); err != nil {
					return
				}
			}
		default:
			http.NotFound(w, request)
		}
	})
}

// promptConn is a connection that keeps no more than 5 ms of data unsent, as the draft asks of
// the ends: what waits in the sender is no property of the path.
type promptConn struct {
	net.Conn
	sent  int64
	since time.Time // when sent was zero
	least int       // bytes: TCP_NOTSENT_LOWAT as it was set last
}

const (
	unsentTime = 5 * time.Millisecond
	// unsentLook is how often a connection's rate is looked at.
	unsentLook = 10 * unsentTime
	// leastUnsent is what it begins with, and what it keeps where a connection stalls: a segment.
	leastUnsent = 1448
)

// Write sends all of p.
func (c *promptConn) Write(p []byte) (int, error) {
	if c.least == 0 {
		c.since = time.Now()
		if err := c.limit(leastUnsent); err != nil {
			return 0, err
		}
	}
	n, err := c.Conn.Write(p)
	c.sent += int64(n)
	if passed := time.Since(c.since); err == nil && passed >= unsentLook {
		rate := float64(c.sent) / passed.Seconds()
		c.sent, c.since = 0, c.since.Add(passed)
		err = c.limit(max(leastUnsent, int(rate*unsentTime.Seconds())))
	}
	return n, err
}

// limit sets TCP_NOTSENT_LOWAT.
func (c *promptConn) limit(bytes int) (err error) {
	tcp, ok := c.Conn.(*net.TCPConn)
	if !ok || bytes == c.least {
		return nil
	}
	c.least = bytes
	raw, err := tcp.SyscallConn()
	if err != nil {
		return err
	}
	failed := raw.Control(func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, bytes)
	})
	if failed != nil {
		return failed
	}
	return err
}
