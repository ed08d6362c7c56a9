package workload

import (
	"context"
	"errors"
	"net"
	"strconv"
	"syscall"
	"testing"

	sqldriver "github.com/go-sql-driver/mysql"

	"tare/test/labtest"
	"tare/traffic"
)

// A server that refuses some connections and breaks others is quoted.
func TestServersReasonComesFirst(t *testing.T) {
	broken, refused := sqldriver.ErrInvalidConn, &sqldriver.MySQLError{Number: 1040, Message: "Too many connections"}
	for want, errs := range map[error][]error{
		refused: {broken, refused, broken},
		broken:  {nil, broken, nil},
		nil:     {nil, nil},
	} {
		got := together(make([]*session, len(errs)), func(n int) error { return errs[n] })
		if !errors.Is(got, want) {
			t.Errorf("of %v it returns %v, want %v", errs, got, want)
		}
	}
}

// A server whose limit of open files is reached accepts nothing more and refuses nothing: a client says so,
// and can be interrupted.
func TestServerThatDoesNotGreetIsSilent(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // its queue takes connections, and nobody reads it
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	at := l.Addr().(*net.TCPAddr).AddrPort()
	ctx, interrupt := context.WithCancelCause(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := openSession(ctx, at)
		ended <- err
	}()
	conn, err := l.Accept() // it waits for the greeting from now on
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	why := errors.New("the user's")
	interrupt(why)
	if err := <-ended; !errors.Is(err, why) {
		t.Errorf("an interrupted client: %v", err)
	}
	late, cancel := context.WithTimeoutCause(t.Context(), 0, traffic.ErrSilent)
	defer cancel()
	if _, err := openSession(late, at); !errors.Is(err, traffic.ErrSilent) {
		t.Errorf("a client that waited: %v", err)
	}
}

// A server may have more connections than a shell's limit of open files.
func TestProgramsMayOpenManyFiles(t *testing.T) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	var said string
	c, err := startChild(t.TempDir(), func(line string) { said = line }, "/bin/sh", "-c", "ulimit -S -n")
	if err != nil {
		t.Fatal(err)
	}
	<-c.done
	labtest.Equal(t, "soft limit", said, strconv.FormatUint(min(limit.Max, mostFiles), 10))
}
