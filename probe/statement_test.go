package probe

import (
	"encoding/binary"
	"testing"

	"golang.org/x/sys/unix"
)

// kube-proxy's mode nftables takes an endpoint's address and port from one map (dnat ip addr . port).
func TestTranslationByAMapOfAddressesAndPorts(t *testing.T) {
	d := &decoder{slots: map[int]operand{0: {chosen: []string{"10.102.0.2:5210", "10.102.0.3:5210"}}, 2: {data: []byte{0, 80}}}}
	register := func(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, unix.NFT_REG32_00+n) }
	for port, want := range map[uint32]string{
		1: "dnat to { 10.102.0.2:5210, 10.102.0.3:5210 }",
		2: "dnat to { 10.102.0.2:5210, 10.102.0.3:5210 }:80",
	} {
		got := d.translation(map[uint16][]byte{
			unix.NFTA_NAT_TYPE:         binary.BigEndian.AppendUint32(nil, unix.NFT_NAT_DNAT),
			unix.NFTA_NAT_REG_ADDR_MIN: register(0), unix.NFTA_NAT_REG_PROTO_MIN: register(port),
		})
		if got != want {
			t.Errorf("port in register %d: %q, want %q", port, got, want)
		}
	}
}
