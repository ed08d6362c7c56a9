package traffic

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A connection begins with a greeting: the token and one verb. The server
// answers a flow's greeting with the welcome, once all flows are accepted.
const (
	VerbFlow    = 'f' // a flow of the run; tcp_crr: one request
	VerbEnd     = 'e' // the run is over
	Welcome     = 'w'
	GreetingLen = len(Token{}) + 1
)

// Greeting is the first bytes of a connection.
func Greeting(token Token, verb byte) []byte {
	return append(token[:len(token):len(token)], verb)
}

// DialFlows opens n flows under a congestion control, or if none is named under the
// machine's or the route's, and waits until the server has welcomed all.
func DialFlows(r *Run, to netip.AddrPort, token Token, n int, cc string) ([]int, error) {
	var fds []int
	fail := func(err error) ([]int, error) {
		CloseSockets(fds)
		return nil, err
	}
	for range n {
		fd, err := dialFlow(r, to, token, cc)
		if err != nil {
			return fail(err)
		}
		fds = append(fds, fd)
	}
	limit := r.Now() + Grace
	for i, fd := range fds {
		if err := awaitWelcome(r, fd, limit); err != nil {
			return fail(fmt.Errorf("wait for the server at %v to welcome flow %d of %d: %w; see what listens there and whether its token is the same", to, i+1, n, err))
		}
	}
	return fds, nil
}

func dialFlow(r *Run, to netip.AddrPort, token Token, cc string) (int, error) {
	fd, err := Dial(r, to, cc)
	if err != nil {
		return -1, err
	}
	if err := SendAll(r, fd, Greeting(token, VerbFlow)); err != nil {
		CloseSocket(fd)
		return -1, fmt.Errorf("connect to %v: %w", to, err)
	}
	return fd, nil
}

// Dial opens a connection that sends each message at once, under a congestion control, if one is named.
func Dial(r *Run, to netip.AddrPort, cc string) (int, error) {
	family, sa, err := SocketAddress(to)
	if err != nil {
		return -1, err
	}
	fd, err := OpenSocket(family, unix.SOCK_STREAM)
	if err != nil {
		return -1, err
	}
	err = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	if err == nil {
		err = SetCongestion(fd, cc)
	}
	if err == nil {
		err = Connect(r, fd, sa)
	}
	if err != nil {
		CloseSocket(fd)
		return -1, fmt.Errorf("connect to %v: %w", to, err)
	}
	return fd, nil
}

func awaitWelcome(r *Run, fd int, limit time.Duration) error {
	answer, err := AwaitByte(r, fd, limit)
	if err == nil && answer != Welcome {
		err = fmt.Errorf("it answered with byte %#x", answer)
	}
	return err
}

// AwaitByte receives one byte until the limit on the run's clock, and some ticks more:
// where the whole machine was paused for longer than the limit, the peer was too.
func AwaitByte(r *Run, fd int, limit time.Duration) (byte, error) {
	var in [1]byte
	const ticksMore = 10
	late := 0
	for {
		n, errno := Receive(fd, in[:], 0)
		if errno == unix.EAGAIN && r.Now() > limit {
			late++
		}
		switch {
		case errno == 0 && n == 0:
			return 0, ErrPeerClosed
		case errno == 0:
			return in[0], nil
		case !Waited(errno):
			return 0, errno
		case r.Stopped():
			return 0, r.Cause(ErrSilent)
		case late > ticksMore:
			return 0, ErrSilent
		}
	}
}

// Printable reports whether a request line can hold s.
func Printable(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool { return c <= ' ' || c == 0x7f })
}

// ErrNoToken is of a server that was given none.
var ErrNoToken = errors.New("a server answers one run: give it the run's token")
