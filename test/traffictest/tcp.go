package traffictest

import (
	"testing"

	"tare/traffic"
)

// TCPPair is a connection over the loopback: both its ends.
func TCPPair(b *testing.B) (near, far int) {
	b.Helper()
	l := ListenTCP(b)
	r := traffic.StartRun(b.Context())
	defer r.End()
	dialled := make(chan error, 1)
	go func() {
		fds, err := traffic.DialFlows(r, l.Addr(), Token, 1, "")
		if err == nil {
			near = fds[0]
		}
		dialled <- err
	}()
	fds, err := traffic.NewAcceptor(r, l, Token, traffic.GreetingLen).AcceptFlows("", 1)
	if err != nil {
		b.Fatal(err)
	}
	if err := <-dialled; err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { traffic.CloseSockets([]int{near, fds[0]}) })
	return near, fds[0]
}

// Drain receives what the other end sends until it is stopped.
func Drain(r *traffic.Run, fd, flags int) (stop func()) {
	done := make(chan struct{})
	buffer := traffic.Buffer(1 << 20)
	go func() {
		defer close(done)
		for !r.Stopped() {
			_, _ = traffic.Receive(fd, buffer, flags)
		}
	}()
	return func() { r.Stop(); <-done }
}
