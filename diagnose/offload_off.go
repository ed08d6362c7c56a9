package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"tare/catalog"
	"tare/result"
)

// offloadOff finds a device on the path with an offload switched off: the CPU does
// its work.
func offloadOff() Rule {
	return Rule{
		ID: "offload-off",
		Match: func(e *Evidence) []result.Finding {
			if e.Fidelity == catalog.StandIn {
				return nil // its data path may need single frames
			}
			var found []result.Finding
			for _, at := range e.Places {
				for _, device := range e.devices(at) {
					var off []string
					var evidence []result.Evidence
					for _, feature := range e.expected(at, device) {
						if on, known := e.state(at, offloads)[device+"."+feature]; known && on == false {
							off = append(off, feature)
							evidence = append(evidence, seen(device+"."+feature, false, at, offloads))
						}
					}
					if len(off) == 0 {
						continue
					}
					found = append(found, result.Finding{
						Cause:      fmt.Sprintf("%s in %s has %s switched off", device, at, strings.Join(off, ", ")),
						Evidence:   evidence,
						Remedy:     remedy(at, "ethtool -K "+device+" "+strings.Join(off, " on ")+" on"),
						Confidence: 0.92,
					})
				}
			}
			return found
		},
	}
}

// expected are the offloads that a device has by default, or by its model of
// interface: one that is off was switched off.
func (e *Evidence) expected(at, device string) []string {
	kind := e.word(at, links, device+".kind")
	features := []string{"tx-tcp-segmentation", "tx-generic-segmentation", "tx-checksum-ip-generic", "tx-scatter-gather"}
	switch kind {
	case "bridge", "vxlan":
		features = append(features, "rx-gro")
	case "veth", "netkit":
		features = append(features, "rx-checksum")
	default:
		return nil
	}
	if !e.ofUnderlay(at, device) {
		return features
	}
	switch e.NIC {
	case "full":
		features = append(features, "tx-udp_tnl-segmentation", "tx-udp_tnl-csum-segmentation")
	case "frames", "plain":
		features = slices.DeleteFunc(features, func(f string) bool { return strings.HasSuffix(f, "-segmentation") })
		if e.NIC == "frames" {
			features = append(features, "rx-gro")
		}
	}
	return features
}
