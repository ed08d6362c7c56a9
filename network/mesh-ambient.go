package network

import (
	"tare/engine/servicemesh"
	"tare/lab"
)

// meshAmbient is route with a relay on each host, which has sockets inside the namespaces of its
// containers, as ztunnel in Istio's ambient mode.
func meshAmbient() Network {
	return withMesh(Network{
		Name: "mesh-ambient",
		Doc:  "route + a relay on each host that its containers' TCP connections are redirected to, pooled tunnels of mutual TLS and HTTP/2 between relays (Istio's ambient mode; UDP passes them)",
	}, redirectToAmbient, func(cluster *lab.Cluster, authority *servicemesh.Authority) (func(c *lab.Container) error, error) {
		controls := map[*lab.Host]*servicemesh.Control{}
		err := eachHost(cluster, func(h *lab.Host) (err error) {
			controls[h], err = startMeshRelay(h, h.Namespace, &cluster.Undo, servicemesh.Ambient)
			return err
		})
		return func(c *lab.Container) error {
			w, err := meshWorkload(cluster, authority, c)
			if err != nil {
				return err
			}
			control := controls[c.Host]
			if err := control.Add(w, c.Descriptor()); err != nil {
				return err
			}
			c.Detach.Push(func() error { return control.Drop(c.Addr) })
			return nil
		}, err
	})
}
