package lab

import (
	"errors"
	"fmt"

	"github.com/safchain/ethtool"

	"tare/result"
)

// NIC is a model of the underlay interfaces' offloads: what decides an
// overlay's toll (design, decision 4).
type NIC string

// The models.
const (
	NICFull   NIC = "full"   // TSO, checksum and tunnel segmentation: a good NIC
	NICTSO    NIC = "tso"    // no tunnel segmentation: virtio, most clouds
	NICFrames NIC = "frames" // MTU-sized frames, GRO at the receiver
	NICPlain  NIC = "plain"  // MTU-sized frames, no GRO
)

// NICs lists the models, the default first.
func NICs() []string {
	nic, _ := result.AxisOf("nic")
	return nic.Words
}

// features are the ethtool features that a model switches. A veth as it comes
// is the model "full"; GRO on a veth also turns its NAPI on (Linux 5.13).
func (n NIC) features() map[string]bool {
	switch n {
	case NICTSO:
		return map[string]bool{
			"tx-udp_tnl-segmentation": false, "tx-udp_tnl-csum-segmentation": false,
			"tx-ipxip4-segmentation": false, "tx-gre-segmentation": false, "tx-gre-csum-segmentation": false,
		}
	case NICFrames:
		return map[string]bool{"tx-tcp-segmentation": false, "tx-generic-segmentation": false, "rx-gro": true}
	case NICPlain:
		return map[string]bool{"tx-tcp-segmentation": false, "tx-generic-segmentation": false, "rx-gro": false}
	}
	return nil
}

// SetFeatures switches offloads of a device by their ethtool names.
func (ns *Namespace) SetFeatures(device string, features map[string]bool) error {
	if len(features) == 0 {
		return nil
	}
	return ns.Do(func() error {
		tool, err := ethtool.NewEthtool()
		if err != nil {
			return fmt.Errorf("open ethtool in %s: %w", ns.Name, err)
		}
		defer tool.Close()
		if err := tool.Change(device, features); err != nil {
			return fmt.Errorf("set offloads of %s in %s: %w", device, ns.Name, err)
		}
		state, err := tool.Features(device)
		if err != nil {
			return fmt.Errorf("read offloads of %s in %s: %w", device, ns.Name, err)
		}
		var errs []error
		for name, want := range features {
			if state[name] != want {
				errs = append(errs, fmt.Errorf("set offloads of %s in %s: %s stays %t", device, ns.Name, name, state[name]))
			}
		}
		return errors.Join(errs...)
	})
}
