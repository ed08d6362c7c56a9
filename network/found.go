package network

import "strings"

// Endpoint is the network of containers that commands of the user's reach: tare did not build
// it and does not know it.
const Endpoint = "endpoint"

// DockerPrefix begins what a network of Docker's is called that tare did not build, as in
// docker:bridge.
const DockerPrefix = "docker:"

// Pods is the network of a Kubernetes cluster's pods.
const Pods = "pods"

// SitePort is the first of the ports on which servers listen at places that tare did not
// build: each cluster of them has its own, since they share the machines.
const SitePort = 5220

// PublishedSitePort is the first of those that hosts of such places publish.
const PublishedSitePort = 5300

// found is a network that can't be set up, and is in no list of networks.
func found(name string) Network {
	n := Network{
		Name:     name,
		Doc:      "the network of the containers that --endpoint names",
		Parent:   Baseline,
		Fidelity: Product,
		Paths:    []string{SameHost, ContainerToOwnHost, CrossHost, HostToContainer},
	}
	if docker, is := strings.CutPrefix(name, DockerPrefix); is {
		n.Doc = "the network " + docker + " of these engines"
		n.Paths = append(n.Paths, PublishedPort, ContainerToPublishedPort)
	}
	if name == Pods {
		n.Doc = "the network of the cluster's pods"
		n.Paths = append(n.Paths, ContainerToHost, Hairpin, ClusterIP, HostToClusterIP, NodePort, ContainerToNodePort)
	}
	return n
}
