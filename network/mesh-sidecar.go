package network

import (
	"tare/engine/servicemesh"
	"tare/lab"
)

// meshSidecar is route with a relay inside the namespace of each container, which the container's TCP
// connections are redirected to, as in Istio's mode of sidecars.
func meshSidecar() Network {
	return withMesh(Network{
		Name: "mesh-sidecar",
		Doc:  "route + a relay in each container that its TCP connections are redirected to, mutual TLS between relays (Istio's sidecars; UDP passes them)",
	}, redirectToSidecar, func(cluster *lab.Cluster, authority *servicemesh.Authority) (func(c *lab.Container) error, error) {
		return func(c *lab.Container) error {
			control, err := startMeshRelay(c.Host, c.Namespace, &c.Undo, servicemesh.Sidecar)
			if err != nil {
				return err
			}
			w, err := meshWorkload(cluster, authority, c)
			if err != nil {
				return err
			}
			return control.Add(w, -1)
		}, nil
	})
}
