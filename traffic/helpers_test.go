package traffic

import (
	"net/netip"
	"testing"
)

var loopback = netip.MustParseAddrPort("127.0.0.1:0")

var testToken = Token{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}

func listenTCP(t *testing.T) *Listener {
	t.Helper()
	l, err := ListenTCP(loopback)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}
