package servicemesh

import (
	"errors"
	"io"
	"net"
	"sync"
)

// The buffer of one direction of a connection: an idle one has little, one that fills it gets
// more, as with ztunnel. The largest is four TLS records.
const (
	leastBuffer = 4 << 10
	mostBuffer  = 64 << 10
)

// copyAll copies until the source ends. Nothing is read while the destination takes nothing.
func copyAll(into io.Writer, from io.Reader) error {
	buffer := make([]byte, leastBuffer)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			if _, err := into.Write(buffer[:n]); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case n == len(buffer) && n < mostBuffer:
			buffer = make([]byte, 2*n)
		}
	}
}

// end is one end of a relayed connection.
type end interface {
	io.Reader
	io.Writer
	CloseWrite() error
}

// relay copies in both directions until both have ended. The end of one direction is passed on;
// an error ends both, so that nobody takes what was cut off for complete.
func relay(a, b end, abort func()) {
	var both sync.WaitGroup
	for _, way := range [][2]end{{a, b}, {b, a}} {
		both.Go(func() {
			err := pass(way[1], way[0])
			if err == nil {
				err = way[1].CloseWrite()
			}
			if err != nil {
				abort()
			}
		})
	}
	both.Wait()
}

// pass copies one direction: what is not encrypted inside the kernel.
func pass(into, from end) error {
	if plain, both := into.(*net.TCPConn); both {
		if source, both := from.(*net.TCPConn); both {
			_, err := plain.ReadFrom(source)
			return err
		}
	}
	return copyAll(into, from)
}

// reset ends connections at once: their peers see a reset, and not the end of the data.
func reset(conns ...*net.TCPConn) {
	for _, conn := range conns {
		if conn.SetLinger(0) == nil {
			conn.Close()
		}
	}
}
