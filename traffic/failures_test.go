package traffic

import (
	"fmt"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestTCPCRRNamesItsFailures(t *testing.T) {
	var f Failures
	for range 3 {
		f.Add("connect", fmt.Errorf("open: %w", unix.ECONNREFUSED))
	}
	f.Add("connect", unix.EADDRNOTAVAIL)
	f.Add("receive", ErrPeerClosed)
	for i := range 20 {
		f.Add("send", syscall.Errno(i+1))
	}
	names := f.Named()
	want := map[string]int64{
		"connect: connection refused":              3,
		"connect: cannot assign requested address": 1,
		"receive: the peer closed the connection":  1,
		"send: operation not permitted":            1,
		"other causes":                             7,
	}
	for name, n := range want {
		if names[name] != n {
			t.Errorf("%q: %d, want %d", name, names[name], n)
		}
	}
}
