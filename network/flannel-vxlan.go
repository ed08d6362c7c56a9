package network

import (
	"errors"

	"tare/engine/flannel"
	"tare/lab"
	"tare/wire"
)

// directRouting is flannel's setting of that name for its vxlan backend.
const directRouting = "direct_routing"

// flannelVXLAN is flannel with VXLAN between hosts: a VXLAN device per host, to
// which the other hosts' subnets are routed.
func flannelVXLAN() Network {
	return Network{
		Name:     "flannel-vxlan",
		Doc:      "flannel's vxlan backend: bridge per host, VXLAN between hosts by flanneld, container MTU = underlay - 50",
		Parent:   "flannel-host-gw",
		Fidelity: Product,
		Facts:    Facts{Kernel: "vxlan"},
		Stack:    wire.VXLAN(),
		Paths:    []string{SameHost, CrossHost, HostToContainer},
		Needs:    flannelNeeds(),
		Missing:  "VXLAN devices",
		Get:      "modprobe vxlan",
		Params: []Param{masqueradeParam(), {
			Name: directRouting, Doc: "flannel routes between hosts of one subnet without VXLAN", Values: []string{"off", "on"}, List: true,
		}},
		SetUp: func(cluster *lab.Cluster, setup *Setup) error {
			backend := flannel.Backend{Type: "vxlan", DirectRouting: setup.Params[directRouting] == "on"}
			if backend.DirectRouting {
				setup.Note("direct-routing: nothing is encapsulated between these hosts; the ceiling shown is that of VXLAN")
			}
			return setUpFlannel(cluster, setup, backend)
		},
		Try: func(cluster *lab.Cluster, _ *Setup) error {
			return errors.Join(flannel.Try(cluster.Hosts[0]), cluster.Hosts[0].AddVXLAN(lab.VXLAN{
				Name: "flannel.1", VNI: 1, Port: 8472, Local: cluster.Hosts[0].Addr, Device: lab.Device, MTU: wire.InnerMTU(cluster.Spec.MTU, wire.VXLAN()),
			}))
		},
	}
}
