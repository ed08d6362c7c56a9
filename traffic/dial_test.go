package traffic

import (
	"io"
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tare/test/labtest"
)

func TestAcceptedSocketsKeepTheTimeouts(t *testing.T) {
	l := listenTCP(t)
	r := StartRun(t.Context())
	defer r.End()
	a := NewAcceptor(r, l, testToken, GreetingLen)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if dialled, err := DialFlows(r, l.Addr(), testToken, 1, ""); err == nil {
			CloseSockets(dialled)
		}
	}()
	fds, err := a.AcceptFlows("", 1)
	if err != nil {
		t.Fatal(err)
	}
	<-done
	defer CloseSockets(fds)
	for _, option := range []int{unix.SO_RCVTIMEO, unix.SO_SNDTIMEO} {
		tv, err := unix.GetsockoptTimeval(fds[0], unix.SOL_SOCKET, option)
		if err != nil || tv.Nano() < int64(Tick) || tv.Nano() > int64(3*Tick) {
			t.Errorf("timeout %v, %v", tv, err)
		}
	}
}

// A machine that was paused past a limit: the answer that is there then counts.
func TestAnswersAfterAPauseCount(t *testing.T) {
	t.Parallel()
	l, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(loopback))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		if c, err := l.Accept(); err == nil {
			_, _ = io.ReadFull(c, make([]byte, GreetingLen))
			_, _ = c.Write([]byte{Welcome})
		}
	}()
	r := StartRun(t.Context())
	defer r.End()
	fd, err := dialFlow(r, l.Addr().(*net.TCPAddr).AddrPort(), testToken, "")
	if err != nil {
		t.Fatal(err)
	}
	defer CloseSocket(fd)
	if n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(labtest.Generous/time.Millisecond)); n != 1 {
		t.Fatalf("the server sent nothing: %v", err)
	}
	r.base = r.base.Add(-time.Minute)
	if err := awaitWelcome(r, fd, Grace); err != nil {
		t.Error(err)
	}
}
