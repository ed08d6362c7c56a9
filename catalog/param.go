package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"tare/result"
)

// Param is a parameter that some networks have, or some workloads.
type Param struct {
	Name   string // as in a plan and a cell: "ip_masq"
	Doc    string
	Values []string // the default first; nil: a number up to Most, or any text
	Least  int      // of a number
	Most   int      // of a number; 0: it is none
	List   bool     // a list of values weighs the network with each of them
	Absent bool     // the network is weighed without it too
	Switch bool     // it is on or off, and its flag needs no value
	Typed  bool     // it names what is executed, or what is taken from the machine: a plan's file can't set it alone
}

// Default is the value where none is given.
func (p Param) Default() string {
	if len(p.Values) > 0 {
		return p.Values[0]
	}
	return ""
}

// The parameters of every network but the baseline.
const (
	Hosts      = "hosts"
	Containers = "containers"
	Rules      = "rules"
	RulesBy    = "rules_by"
	// With names a passenger: a shell command that runs on each host of a network, as an observer,
	// a capture or a policy engine does on a machine.
	With = "with"
	// Neighbour names a noisy neighbour: a workload, with its rate where it has one, that other
	// containers run on the same hosts while a network is weighed.
	Neighbour = "neighbour"
)

// The parameters of single networks.
const (
	Backend       = "firewall_backend"
	Backends      = "backends"
	CNIBin        = "cni_bin"
	CNIFile       = "cni"
	DirectRouting = "direct_routing"
	DockerVersion = "docker_version"
	IPMasq        = "ip_masq"
	NetkitMode    = "netkit_mode"
	Openflow      = "openflow"
	PastaFrom     = "pasta_from"
	Policies      = "policies"
	Ports         = "ports"
	PromiscMode   = "promisc_mode"
	Router        = "router"
	ServiceAt     = "service_at"
	Services      = "services"
	TapMTU        = "tap_mtu"
	UserlandProxy = "userland_proxy"
	VF            = "vf"
)

// Values of parameters.
const (
	On  = "on"
	Off = "off"

	ByNftables = "nftables"
	ByIptables = "iptables"

	OfMachine  = "machine"
	OfDebian13 = "debian-13"

	NetkitL3 = "l3"
	NetkitL2 = "l2"

	// Open vSwitch learns addresses, or has a rule for each pair of them.
	OpenflowNormal   = "normal"
	OpenflowExplicit = "explicit"

	BIRD = "bird"
	FRR  = "frr"

	// Where among the others the measured Service's rules are.
	InTheMiddle = "middle"
	AtFirst     = "first"
	AtLast      = "last"

	// DefaultTapMTU is pasta's default. The most that pasta and slirp4netns take is 65521; Podman gives
	// slirp4netns 65520.
	DefaultTapMTU = "65520"
)

// Bounds of what is built.
const (
	MaxHosts      = 63      // an address has six bits for them
	MaxContainers = 1000    // of a host: an address has ten bits for them, and some are taken
	mostRules     = 100_000 // that match nothing
	mostPorts     = 500     // that one container publishes

	// kube-proxy takes no more than 1,000 endpoints of a Service (pkg/proxy/endpointslicecache.go).
	mostServices = 60_000
	mostBackends = 1000
)

// common are the parameters of every network but the baseline.
func common() []Param {
	return []Param{
		{Name: Hosts, Doc: "hosts of each network (default 2)", Least: 1, Most: MaxHosts, List: true},
		{Name: Containers, Doc: "containers of each host (default 2)", Most: MaxContainers, List: true},
		{Name: Rules, Doc: "rules that routed packets pass and that match nothing (default 0)", Most: mostRules, List: true},
		{Name: With, Doc: "command that runs on each host, as an observer: the networks are weighed with it and without", Absent: true, Typed: true},
		{Name: Neighbour, Doc: "workload of other containers on the same hosts, as in tcp_stream@100mbit: the networks are weighed beside it and without it", Absent: true},
		{Name: RulesBy, Doc: "what adds those rules", Values: []string{ByNftables, ByIptables}, List: true},
	}
}

// Params lists the parameters of all networks, each once.
func Params() []Param {
	all := common()
	for _, n := range networks() {
		for _, p := range n.Params {
			if !slices.ContainsFunc(all, func(had Param) bool { return had.Name == p.Name }) {
				all = append(all, p)
			}
		}
	}
	return all
}

// param returns a parameter of the network.
func (n Network) param(name string) (Param, bool) {
	all := n.Params
	if n.Name != Baseline {
		all = append(common(), all...)
	}
	at := slices.IndexFunc(all, func(p Param) bool { return p.Name == name })
	if at < 0 {
		return Param{}, false
	}
	return all[at], true
}

// Own names the parameters that the network has and not every other one.
func (n Network) Own() []string {
	return result.Names(n.Params, func(p Param) string { return p.Name })
}

// Takes reports whether the network has the parameter.
func (n Network) Takes(name string) bool { _, has := n.param(name); return has }

// OfSingleNetworks reports whether networks have the parameter, but not all of them.
func OfSingleNetworks(name string) bool {
	named := func(p Param) bool { return p.Name == name }
	return slices.ContainsFunc(Params(), named) && !slices.ContainsFunc(common(), named)
}

// CheckParam fails if the network does not have the parameter, or the parameter
// does not accept the value.
func (n Network) CheckParam(name, value string) error {
	p, has := n.param(name)
	switch {
	case !has:
		return fmt.Errorf("network %s has no %s", n.Name, name)
	case name == Neighbour && !n.takesNeighbour():
		return fmt.Errorf("%s of %s: its containers reach no host: weigh another network beside one", name, n.Name)
	case p.Most > 0:
		if count, err := strconv.Atoi(value); err != nil || count < p.Least || count > p.Most {
			return fmt.Errorf("%s of %s is %q: give a number from %d to %d", name, n.Name, value, p.Least, p.Most)
		}
	case p.Values != nil && !slices.Contains(p.Values, value):
		return fmt.Errorf("%s of %s is %q: give one of %s", name, n.Name, value, strings.Join(p.Values, ", "))
	}
	return nil
}

// takesNeighbour reports whether a container of the network reaches a host or a container on another.
func (n Network) takesNeighbour() bool {
	return n.Serves(CrossHost) || n.Outside || n.Serves(ContainerToOwnHost)
}

// Complete adds the defaults of the network's parameters to the values that are set.
func (n Network) Complete(set map[string]string) map[string]string {
	params := map[string]string{}
	for _, p := range n.Params {
		params[p.Name] = p.Default()
	}
	maps.Copy(params, set)
	return params
}

// VLANID is the VLAN of every network that has one.
const VLANID = 701

func router() Param {
	return Param{Name: Router, Doc: "the BGP daemon that installs the routes", Values: []string{BIRD, FRR}}
}

func policies() Param {
	return Param{Name: Policies, Doc: "endpoints of each host with policy chains shaped like Felix's (default 0: no policy at all); of a cluster: NetworkPolicies about the measured pods", Most: MaxContainers, List: true}
}

func masquerade() Param {
	return Param{Name: IPMasq, Doc: "masquerade what leaves the containers' network", Values: []string{On, Off}, List: true}
}

func backend() Param {
	return Param{Name: Backend, Doc: "what Docker 29, flannel or CNI's portmap writes its rules by", Values: []string{ByIptables, ByNftables}, List: true}
}

func tapMTU() Param {
	return Param{Name: TapMTU, Doc: "MTU of a container's TAP device (default " + DefaultTapMTU + ")", Least: 576, Most: 65521, List: true}
}
