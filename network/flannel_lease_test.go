package network

import (
	"strings"
	"testing"
)

func TestParseLease(t *testing.T) {
	const whole = "FLANNEL_NETWORK=10.244.0.0/16\nFLANNEL_SUBNET=10.244.4.1/22\nFLANNEL_MTU=1450\nFLANNEL_IPMASQ=true\n"
	lease, err := parseLease(whole)
	if err != nil {
		t.Fatal(err)
	}
	if got := lease.gateway.String(); got != "10.244.4.1/22" || lease.mtu != 1450 {
		t.Errorf("read %s with MTU %d", got, lease.mtu)
	}
	for n, want := range map[int]string{1: "10.244.4.2", 255: "10.244.5.0", 1000: "10.244.7.233"} {
		if got := lease.bridged().addr(n).String(); got != want {
			t.Errorf("container %d is at %s, want %s", n, got, want)
		}
	}
	for _, text := range []string{
		"",
		"FLANNEL_SUBNET=10.244.4.1/22\n", // asked for, not got yet
		"FLANNEL_MTU=1450\n",
		strings.Replace(whole, "1450", "much", 1),
		strings.Replace(whole, "1450", "-1", 1),
		strings.Replace(whole, "10.244.4.1/22", "10.244.4.1", 1),
		strings.Replace(whole, "10.244.4.1/22", "fd00::1/64", 1),
	} {
		if got, err := parseLease(text); err == nil {
			t.Errorf("%q is read as %+v", text, got)
		}
	}
}

func FuzzParseLease(f *testing.F) {
	f.Add("FLANNEL_SUBNET=10.244.4.1/22\nFLANNEL_MTU=1450\n")
	f.Fuzz(func(t *testing.T, text string) {
		lease, err := parseLease(text)
		if err == nil && (!lease.gateway.Addr().Is4() || lease.mtu <= 0) {
			t.Errorf("%q is read as %+v", text, lease)
		}
	})
}
