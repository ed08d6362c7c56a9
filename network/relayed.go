package network

import (
	"errors"

	"tare/engine"
	"tare/engine/servicemesh"
	"tare/lab"
)

// beginMesh starts what each host of a mesh has, and returns what takes the connections of one
// container that is attached.
type beginMesh func(cluster *lab.Cluster, authority *servicemesh.Authority) (take func(c *lab.Container) error, err error)

// withMesh completes a network whose containers are in a service mesh, on top of the bridge and
// the routes of the network below. redirect adds the rules of one container.
func withMesh(n Network, redirect func(ns *lab.Namespace) error, begin beginMesh) Network {
	n.Parent, n.Fidelity, n.Outside = "route", StandIn, true
	// Facts.Encrypts is not set: UDP is not encrypted.
	n.Facts = Facts{NeedsL2: true, Relays: true, Trusts: true}
	n.Paths = []string{SameHost, CrossHost}
	n.Missing, n.Get = "nftables with redirect, ct and fwmark rules", "modprobe nft_chain_nat nft_redir nft_ct; CONFIG_IP_MULTIPLE_TABLES"
	n.Needs = []engine.Need{kernel(n.Missing, n.Get, redirect)}
	n.SetUp = func(cluster *lab.Cluster, setup *Setup) error {
		setup.Note("only TCP is relayed and encrypted: UDP passes the relays by, in plain, as with Istio")
		b := ownSubnet(cluster.Spec.MTU)
		if err := errors.Join(eachHost(cluster, b.setUp), routeBetweenHosts(cluster)); err != nil {
			return err
		}
		authority, err := servicemesh.NewAuthority()
		if err != nil {
			return err
		}
		take, err := begin(cluster, authority)
		if err != nil {
			return err
		}
		return setup.populate(cluster, func(c *lab.Container) error {
			if err := b.plug(c); err != nil {
				return err
			}
			if err := redirect(c.Namespace); err != nil {
				return err
			}
			return take(c)
		})
	}
	return n
}

// meshWorkload is what a relay must know of a container.
func meshWorkload(cluster *lab.Cluster, authority *servicemesh.Authority, c *lab.Container) (servicemesh.Workload, error) {
	credentials, err := authority.Issue(c.Addr)
	w := servicemesh.Workload{Credentials: credentials, Addr: c.Addr}
	for _, h := range cluster.Hosts {
		w.Members = append(w.Members, servicemesh.Members{Subnet: h.Subnet(), Host: h.ContainerAddr(0)})
	}
	return w, err
}

// startMeshRelay starts a relay in the namespace of a host or of a container.
func startMeshRelay(h *lab.Host, in *lab.Namespace, with *lab.Undo, kind string) (*servicemesh.Control, error) {
	control, socket, err := servicemesh.NewControl()
	if err != nil {
		return nil, err
	}
	defer socket.Close()
	with.Push(control.Close)
	return control, h.StartSelfIn(in, with, socket, servicemesh.Verb, kind)
}
