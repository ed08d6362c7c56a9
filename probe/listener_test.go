package probe

import (
	"encoding/binary"
	"errors"
	"net"
	"testing"

	"golang.org/x/sys/unix"
)

// TestListenersReportTheirQueue connects twice to a socket that no process accepts
// from.
func TestListenersReportTheirQueue(t *testing.T) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	for range 2 {
		conn, err := net.Dial("tcp4", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	v := newView("/")
	got, err := listeners().look(v)
	if err := errors.Join(err, v.close()); err != nil {
		t.Fatal(err)
	}
	at := listener.Addr().String()
	backlog, reported := got[at+".backlog"].(uint32)
	if got[at+".queue"] != uint32(2) || !reported || backlog < 2 {
		t.Errorf("queue %v of %v, want 2 of more", got[at+".queue"], got[at+".backlog"])
	}
}

func FuzzParseListeners(f *testing.F) {
	message := binary.NativeEndian.AppendUint32(nil, unix.SizeofNlMsghdr+diagMessage)
	message = binary.NativeEndian.AppendUint16(message, unix.SOCK_DIAG_BY_FAMILY)
	message = append(message, make([]byte, unix.SizeofNlMsghdr-6)...)
	f.Add(append(append(message, unix.AF_INET, tcpListen), make([]byte, diagMessage-2)...))
	f.Fuzz(func(t *testing.T, data []byte) {
		if values, err := parseListeners(data); err == nil && values == nil {
			t.Fatal("no table")
		}
	})
}
