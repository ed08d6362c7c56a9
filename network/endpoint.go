package network

// Endpoint is the network of containers that commands of the user's reach: tare did not build
// it and does not know it.
const Endpoint = "endpoint"

// SitePort is the first of the ports on which servers listen at places that tare did not
// build: each cluster of them has its own, since they share the machines.
const SitePort = 5220

// endpoint can't be set up, and is in no list of networks.
func endpoint() Network {
	return Network{
		Name:     Endpoint,
		Doc:      "the network of the containers that --endpoint names",
		Parent:   Baseline,
		Fidelity: Product,
		Paths:    []string{SameHost, ContainerToOwnHost, CrossHost, HostToContainer},
	}
}
