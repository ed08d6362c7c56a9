package lab

import (
	"crypto/rand"
	"fmt"
	"net/netip"

	"github.com/vishvananda/netlink"
)

const (
	espCipher = "rfc4106(gcm(aes))" // AES-GCM in ESP (RFC 4106)
	// espKey is a key of 128 bits and its salt of 32 (RFC 4106, section 8.1).
	espKey = 16 + 4
	espICV = 128 // bits of the integrity check value
	// espWindow is the packets within which a late one is no replay.
	espWindow = 32
)

// ESP is one direction of an IPsec tunnel (RFC 4303) between two hosts with a
// static security association.
type ESP struct {
	SPI      int
	From, To netip.Addr // the outer header's
	Key      []byte
	// What travels in it.
	Source, Destination netip.Prefix
}

// NewESPKey makes a key for ESP.
func NewESPKey() ([]byte, error) {
	key := make([]byte, espKey)
	if _, err := rand.Read(key); err != nil {
		return nil, fmt.Errorf("make key: %w", err)
	}
	return key, nil
}

// AddESP configures the direction in one of its two hosts: outgoing where it starts,
// else incoming and forwarded, so that nothing from there is accepted unencrypted.
func (ns *Namespace) AddESP(e ESP, starts bool) error {
	directions := []netlink.Dir{netlink.XFRM_DIR_IN, netlink.XFRM_DIR_FWD}
	if starts {
		directions = []netlink.Dir{netlink.XFRM_DIR_OUT}
	}
	return ns.Do(func() error {
		err := netlink.XfrmStateAdd(&netlink.XfrmState{
			Src: e.From.AsSlice(), Dst: e.To.AsSlice(), Proto: netlink.XFRM_PROTO_ESP, Mode: netlink.XFRM_MODE_TUNNEL,
			Spi: e.SPI, Reqid: e.SPI, ReplayWindow: espWindow,
			Aead: &netlink.XfrmStateAlgo{Name: espCipher, Key: e.Key, ICVLen: espICV},
		})
		if err != nil {
			return fmt.Errorf("add ESP state %s to %s in %s: %w", e.From, e.To, ns.Name, err)
		}
		for _, direction := range directions {
			err := netlink.XfrmPolicyAdd(&netlink.XfrmPolicy{
				Src: ipNet(e.Source), Dst: ipNet(e.Destination), Dir: direction,
				Tmpls: []netlink.XfrmPolicyTmpl{{
					Src: e.From.AsSlice(), Dst: e.To.AsSlice(), Proto: netlink.XFRM_PROTO_ESP,
					Mode: netlink.XFRM_MODE_TUNNEL, Reqid: e.SPI,
				}},
			})
			if err != nil {
				return fmt.Errorf("add ESP policy %s to %s in %s: %w", e.Source, e.Destination, ns.Name, err)
			}
		}
		return nil
	})
}
