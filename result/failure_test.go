package result

import "testing"

// What an error shows is known by the kernel's text of it, whoever met it and wherever it is
// in a sentence.
func TestAnErrorShowsWhatFailed(t *testing.T) {
	for text, want := range map[string]Failure{
		"": "",
		"at route.h2/c1: bind 10.102.0.2:5210: address already in use":                                PortInUse,
		"at route.h2/c1: bind 10.102.0.2:5210: cannot assign requested address":                       NoAddress,
		"at route.h1/c1: call tcp_rr: connect to 10.102.0.2:5210: cannot assign requested address":    NoSourcePort,
		"at route.h1/c1: call tcp_rr: connect to 10.102.0.2:5210: connection refused":                 Refused,
		"at route.h1/c1: receive response 1: connection reset by peer; see what the server reported":  Reset,
		"at route.h1/c1: wait for the server: the peer closed the connection; see what listens there": Reset,
		"at route.h1/c1: call tcp_rr: connect to 10.102.0.2:5210: no route to host":                   Unreachable,
		"at route.h1/c1: call tcp_rr: connect to 10.102.0.2:5210: network is unreachable":             Unreachable,
		"at route.h1/c1: call udp_rr: operation not permitted":                                        Denied,
		"at route.h1/c1: call tcp_rr: connect to 10.102.0.2:5210: permission denied":                  Denied,
		"at route.h1/c1: call udp_rr: message too long":                                               TooLarge,
		"congestion control is bbr, not cubic as planned: a route lacks congctl":                      Uncontrolled,
		"agent at route.h1/c1: no answer in time":                                                     Silent,
		"at h1: the server answered 3 requests and then no more; see whether it still runs":           Silent,
		"at route.h1/c1: the moon is full":                                                            Unknown,
	} {
		if got := (Trial{Error: text}).Failure(); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
