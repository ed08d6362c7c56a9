package traffic

import (
	"fmt"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"
)

// A connection begins with a greeting: the token and one verb. The server
// answers a flow's greeting with the welcome, once all flows are accepted.
const (
	verbFlow    = 'f' // a flow of the run; tcp_crr: one request
	verbEnd     = 'e' // the run is over
	welcome     = 'w'
	greetingLen = len(Token{}) + 1
)

func greeting(token Token, verb byte) []byte {
	return append(token[:len(token):len(token)], verb)
}

// dialFlows opens n flows under a congestion control, or if none is named under the
// machine's or the route's, and waits until the server has welcomed all.
func dialFlows(r *run, to netip.AddrPort, token Token, n int, cc string) ([]int, error) {
	var fds []int
	fail := func(err error) ([]int, error) {
		closeSockets(fds)
		return nil, err
	}
	for range n {
		fd, err := dialFlow(r, to, token, cc)
		if err != nil {
			return fail(err)
		}
		fds = append(fds, fd)
	}
	limit := r.now() + grace
	for i, fd := range fds {
		if err := awaitWelcome(r, fd, limit); err != nil {
			return fail(fmt.Errorf("wait for the server at %v to welcome flow %d of %d: %w; see what listens there and whether its token is the same", to, i+1, n, err))
		}
	}
	return fds, nil
}

func dialFlow(r *run, to netip.AddrPort, token Token, cc string) (int, error) {
	fd, err := dial(r, to, cc)
	if err != nil {
		return -1, err
	}
	if err := sendAll(r, fd, greeting(token, verbFlow)); err != nil {
		closeSocket(fd)
		return -1, fmt.Errorf("connect to %v: %w", to, err)
	}
	return fd, nil
}

// dial opens a connection that sends each message at once.
func dial(r *run, to netip.AddrPort, cc string) (int, error) {
	family, sa, err := socketAddress(to)
	if err != nil {
		return -1, err
	}
	fd, err := openSocket(family, unix.SOCK_STREAM)
	if err != nil {
		return -1, err
	}
	err = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	if err == nil {
		err = setCongestion(fd, cc)
	}
	if err == nil {
		err = connect(r, fd, sa)
	}
	if err != nil {
		closeSocket(fd)
		return -1, fmt.Errorf("connect to %v: %w", to, err)
	}
	return fd, nil
}

func awaitWelcome(r *run, fd int, limit time.Duration) error {
	answer, err := awaitByte(r, fd, limit)
	if err == nil && answer != welcome {
		err = fmt.Errorf("it answered with byte %#x", answer)
	}
	return err
}

// awaitByte receives one byte until the limit on the run's clock, and some ticks more:
// where the whole machine was paused for longer than the limit, the peer was too.
func awaitByte(r *run, fd int, limit time.Duration) (byte, error) {
	var in [1]byte
	const ticksMore = 10
	late := 0
	for {
		n, errno := recv(fd, in[:], 0)
		if errno == unix.EAGAIN && r.now() > limit {
			late++
		}
		switch {
		case errno == 0 && n == 0:
			return 0, errPeerClosed
		case errno == 0:
			return in[0], nil
		case !again(errno):
			return 0, errno
		case r.stopped.Load():
			return 0, r.cause(errSilent)
		case late > ticksMore:
			return 0, errSilent
		}
	}
}
