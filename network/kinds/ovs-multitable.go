package kinds

import (
	"fmt"

	"tare/engine/openvswitch"
	"tare/lab"
	"tare/network"
	"tare/wire"
)

// tenant is the VNID of every container of ovs-multitable.
const tenant = vxlanVNI

// ovsMultitable is ovs-vxlan with a pipeline of OpenFlow tables, which determine a
// packet's source, tenant, destination, permission and tunnel.
func ovsMultitable() network.Network {
	return network.Network{
		Needs: openvswitch.Needs(),
		Try:   tryOpenVSwitch,
		SetUp: func(cluster *lab.Cluster, setup *network.Setup) error {
			mtu := wire.InnerMTU(cluster.Spec.MTU, wire.VXLAN())
			configure := func(s *openvswitch.Switch) error {
				if err := addOverlay(s, network.BridgeName, cluster); err != nil {
					return err
				}
				if err := s.AddVXLAN(network.BridgeName, vxlanDevice, openvswitch.TunnelPort, "options:remote_ip=flow", "options:key=flow"); err != nil {
					return err
				}
				return s.SetFlows(network.BridgeName, pipeline(cluster, s.Host))
			}
			return setUpOpenVSwitch(cluster, setup, configure, func(s *openvswitch.Switch, c *lab.Container) error {
				if err := plug(s, c, mtu, overlayContainer(c.Host, c.Number)); err != nil {
					return err
				}
				c.Detach.Push(func() error { return s.RemoveFlows(network.BridgeName, c.Number) })
				return s.AddFlows(network.BridgeName, c.Short, pipelineOf(c))
			})
		},
	}
}

// pipeline is the flows of one host, without those of its containers. The table
// numbers, what each table matches and what it stores in the registers (reg0: the
// sender's VNID, reg1: the receiver's, reg2: its port) are those of OpenShift's SDN
// (github.com/openshift/sdn, pkg/network/node/ovscontroller.go), without its
// services, multicast and egress.
func pipeline(cluster *lab.Cluster, h *lab.Host) []string {
	all, own := overlayContainer(h, 0).Masked(), overlayShare(h)
	flows := []string{
		// Source: the tunnel or a container.
		fmt.Sprintf("table=0,priority=200,in_port=%d,arp,nw_src=%s,nw_dst=%s,actions=move:NXM_NX_TUN_ID[0..31]->NXM_NX_REG0[],goto_table:10", openvswitch.TunnelPort, all, own),
		fmt.Sprintf("table=0,priority=200,in_port=%d,ip,nw_src=%s,actions=move:NXM_NX_TUN_ID[0..31]->NXM_NX_REG0[],goto_table:10", openvswitch.TunnelPort, all),
		fmt.Sprintf("table=0,priority=150,in_port=%d,actions=drop", openvswitch.TunnelPort),
		"table=0,priority=100,arp,actions=goto_table:20",
		"table=0,priority=100,ip,actions=goto_table:20",
		fmt.Sprintf("table=20,priority=300,udp,udp_dst=%d,actions=drop", network.VXLANPort),
		"table=21,priority=0,actions=goto_table:30",
		// Destination: ARP or IP, on this host or another.
		fmt.Sprintf("table=30,priority=200,arp,nw_dst=%s,actions=goto_table:40", own),
		fmt.Sprintf("table=30,priority=100,arp,nw_dst=%s,actions=goto_table:50", all),
		fmt.Sprintf("table=30,priority=200,ip,nw_dst=%s,actions=goto_table:70", own),
		fmt.Sprintf("table=30,priority=100,ip,nw_dst=%s,actions=goto_table:90", all),
		// Permission: only within a tenant.
		fmt.Sprintf("table=80,priority=100,reg0=%d,reg1=%d,actions=output:NXM_NX_REG2[]", tenant, tenant),
	}
	for _, other := range network.Others(cluster, h) {
		through := fmt.Sprintf("actions=move:NXM_NX_REG0[]->NXM_NX_TUN_ID[0..31],set_field:%s->tun_dst,output:%d", other.Addr, openvswitch.TunnelPort)
		flows = append(flows,
			fmt.Sprintf("table=10,priority=100,tun_src=%s,actions=goto_table:30", other.Addr),
			fmt.Sprintf("table=50,priority=100,arp,nw_dst=%s,%s", overlayShare(other), through),
			fmt.Sprintf("table=90,priority=100,ip,nw_dst=%s,%s", overlayShare(other), through))
	}
	return flows
}

// pipelineOf is the flows of one container. Their cookie is its number.
func pipelineOf(c *lab.Container) []string {
	n, addr := c.Number, c.Addr
	return []string{
		fmt.Sprintf("table=20,cookie=%d,priority=100,in_port=%d,arp,nw_src=%s,arp_sha=%s,actions=load:%d->NXM_NX_REG0[],goto_table:21", n, n, addr, lab.MAC(addr), tenant),
		fmt.Sprintf("table=20,cookie=%d,priority=100,in_port=%d,ip,nw_src=%s,actions=load:%d->NXM_NX_REG0[],goto_table:21", n, n, addr, tenant),
		fmt.Sprintf("table=40,cookie=%d,priority=100,arp,nw_dst=%s,actions=output:%d", n, addr, n),
		fmt.Sprintf("table=70,cookie=%d,priority=100,ip,nw_dst=%s,actions=load:%d->NXM_NX_REG1[],load:%d->NXM_NX_REG2[],goto_table:80", n, addr, tenant, n),
	}
}
