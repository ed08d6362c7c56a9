package network

import (
	"net/netip"
	"strings"
	"testing"

	"tare/engine/flannel"
)

func TestLeaseConflist(t *testing.T) {
	list, err := leaseConflist(flannel.Lease{Gateway: netip.MustParsePrefix("10.244.4.1/22"), MTU: 1450})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"subnet": "10.244.4.0/22"`, `"gateway": "10.244.4.1"`, `"mtu": 1450`, `"dst": "10.244.0.0/16"`} {
		if !strings.Contains(string(list.Text), want) {
			t.Errorf("the list lacks %s:\n%s", want, list.Text)
		}
	}
}
