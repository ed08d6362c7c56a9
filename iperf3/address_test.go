package iperf3

import (
	"net/netip"
	"testing"
)

// calls runs a test over TCP and one over UDP.
func calls(t *testing.T, to netip.AddrPort) {
	t.Helper()
	for _, test := range []Test{{Bytes: 1 << 20}, {UDP: true, Bytes: 100_000, Size: 1000, Rate: 100e6, Flows: 2}} {
		if _, err := Run(t.Context(), to, test); err != nil {
			t.Errorf("%v: %v", to, err)
		}
	}
}

func TestLabIPv6(t *testing.T) {
	at, _ := ourServer(t, netip.MustParseAddrPort("[::1]:0"))
	calls(t, at)
}

// A server on the wildcard address answers from where it was called.
func TestLabWildcardAddress(t *testing.T) {
	for _, bind := range []string{"[::]:0", "0.0.0.0:0"} {
		at, _ := ourServer(t, netip.MustParseAddrPort(bind))
		for _, called := range []string{"127.0.0.1", "127.0.0.7"} {
			calls(t, netip.AddrPortFrom(netip.MustParseAddr(called), at.Port()))
		}
	}
}
