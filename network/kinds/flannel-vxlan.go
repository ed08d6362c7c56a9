package kinds

import (
	"errors"

	"tare/catalog"
	"tare/engine/flannel"
	"tare/lab"
	"tare/network"
	"tare/wire"
)

// flannelVXLAN is flannel with VXLAN between hosts: a VXLAN device per host, to
// which the other hosts' subnets are routed.
func flannelVXLAN() network.Network {
	return network.Network{
		Needs: flannelNeeds(),
		SetUp: func(cluster *lab.Cluster, setup *network.Setup) error {
			backend := flannel.Backend{Type: "vxlan", DirectRouting: setup.Params[catalog.DirectRouting] == "on"}
			if backend.DirectRouting {
				setup.Note("direct-routing: nothing is encapsulated between these hosts; the ceiling shown is that of VXLAN")
			}
			return setUpFlannel(cluster, setup, backend)
		},
		Try: func(cluster *lab.Cluster, _ *network.Setup) error {
			return errors.Join(flannel.Try(cluster.Hosts[0]), cluster.Hosts[0].AddVXLAN(lab.VXLAN{
				Name: "flannel.1", VNI: 1, Port: 8472, Local: cluster.Hosts[0].Addr, Device: lab.Device, MTU: wire.InnerMTU(cluster.Spec.MTU, wire.VXLAN()),
			}))
		},
	}
}
