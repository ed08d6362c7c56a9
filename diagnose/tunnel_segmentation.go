package diagnose

import (
	"fmt"

	"tare/result"
)

// tunnelSegmentation finds the part of a tunnel's toll that goes where the interface
// segments tunnelled packets: the same network was measured with one that does.
func tunnelSegmentation() Rule {
	return Rule{
		ID: "tunnel-segmentation",
		Match: func(e *Evidence) []result.Finding {
			m, slow := slower(e.Cell)
			if !slow || !e.tunnels() {
				return nil
			}
			for _, p := range e.Parts {
				if p.Axis != "nic" || p.Cell != e.Cell || !p.Whole || p.Share.Low <= 0 {
					continue
				}
				return []result.Finding{explaining(p, result.Finding{
					Cause: fmt.Sprintf("the interfaces of the hosts (nic %s) cannot segment what %s encapsulates: the CPU cuts each packet into frames, and handles each frame by itself", e.NIC, e.Network),
					Evidence: []result.Evidence{
						tollAs(e.Network+" with nic "+e.NIC, e.Cell, m.Name), tollAs(e.Network+" with nic "+p.Below.Params.Text("nic"), p.Below, m.Name),
					},
					Fix: "ethtool -k DEVICE | grep tx-udp_tnl-segmentation  # on your own hosts: a lab's interface is a model; where theirs lacks it, another interface, or a larger MTU of the hosts",
				})}
			}
			return nil
		},
	}
}
