package catalog

// The paths: which two ends talk.
const (
	SamePod                  = "same-pod"
	SameHost                 = "same-host"
	CrossHost                = "cross-host"
	HostToContainer          = "host-to-container"
	ContainerToHost          = "container-to-host"
	ContainerToOwnHost       = "container-to-own-host"
	PublishedPort            = "published-port"
	ContainerToPublishedPort = "container-to-published-port"

	// By a service of Kubernetes, whose server is on another node.
	ClusterIP           = "cluster-ip"         // from a container
	HostToClusterIP     = "host-to-cluster-ip" // from a node
	NodePort            = "node-port"          // from a node, to a port of the server's node
	ContainerToNodePort = "container-to-node-port"
	Hairpin             = "hairpin" // from a container to itself
)

// NoNetwork is the path of a workload that uses no network.
const NoNetwork = "no-network"

// Paths lists every path in the order of the tables.
func Paths() []string {
	return []string{
		SamePod, SameHost, ContainerToOwnHost, Hairpin, CrossHost, HostToContainer, ContainerToHost, PublishedPort, ContainerToPublishedPort,
		ClusterIP, HostToClusterIP, NodePort, ContainerToNodePort,
	}
}

// Within reports whether both ends of a path are on one host: no packet leaves the
// host, and the baseline is the host's loopback.
func Within(path string) bool {
	return path == SamePod || path == SameHost || path == ContainerToOwnHost || path == Hairpin
}

// Unpublished is the path between the same two ends as one to a published port or a service,
// without it; empty: the path leads to none.
func Unpublished(path string) string {
	switch path {
	case PublishedPort, HostToClusterIP, NodePort:
		return HostToContainer
	case ContainerToPublishedPort, ClusterIP, ContainerToNodePort:
		return CrossHost
	}
	return ""
}

// ByPublishedPort reports whether a path leads to a port that a host publishes for a container.
func ByPublishedPort(path string) bool {
	return path == PublishedPort || path == ContainerToPublishedPort
}

// ByService reports whether a path leads through a Service of Kubernetes.
func ByService(path string) bool {
	switch path {
	case ClusterIP, HostToClusterIP, NodePort, ContainerToNodePort, Hairpin:
		return true
	}
	return false
}
