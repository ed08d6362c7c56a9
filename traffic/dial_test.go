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
	r := startRun(t.Context())
	defer r.end()
	a := newAcceptor(r, l, testToken, greetingLen)
	done := make(chan struct{})
	go func() { defer close(done); dialFlowTo(t, l) }()
	fds, err := a.acceptFlows(1)
	if err != nil {
		t.Fatal(err)
	}
	<-done
	defer closeSockets(fds)
	for _, option := range []int{unix.SO_RCVTIMEO, unix.SO_SNDTIMEO} {
		tv, err := unix.GetsockoptTimeval(fds[0], unix.SOL_SOCKET, option)
		if err != nil || tv.Nano() < int64(tick) || tv.Nano() > int64(3*tick) {
			t.Errorf("timeout %v, %v", tv, err)
		}
	}
}

// A machine that was paused past a limit: the answer that is there then counts.
func TestAnswersAfterAPauseCount(t *testing.T) {
	t.Parallel()
	l := badServer(t, func(c net.Conn) {
		_, _ = io.ReadFull(c, make([]byte, greetingLen))
		_, _ = c.Write([]byte{welcome})
	})
	r := startRun(t.Context())
	defer r.end()
	fd, err := dialFlow(r, l.Addr().(*net.TCPAddr).AddrPort(), testToken, "")
	if err != nil {
		t.Fatal(err)
	}
	defer closeSocket(fd)
	if n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(labtest.Generous/time.Millisecond)); n != 1 {
		t.Fatalf("the server sent nothing: %v", err)
	}
	r.base = r.base.Add(-time.Minute)
	if err := awaitWelcome(r, fd, grace); err != nil {
		t.Error(err)
	}
}
