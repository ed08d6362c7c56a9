package flannel

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
	if got := lease.Gateway.String(); got != "10.244.4.1/22" || lease.MTU != 1450 {
		t.Errorf("read %s with MTU %d", got, lease.MTU)
	}
	for _, text := range []string{
		"",
		"FLANNEL_SUBNET=10.244.4.1/22\n", // what was asked for, not yet what flanneld got
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
		if err == nil && (!lease.Gateway.Addr().Is4() || lease.MTU <= 0) {
			t.Errorf("%q is read as %+v", text, lease)
		}
	})
}
