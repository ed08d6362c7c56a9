package kinds_test

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tare/catalog"
	"tare/engine/docker"
	"tare/lab"
	"tare/network"
	"tare/network/kinds"
	"tare/site"
	"tare/test/labtest"
	"tare/wire"
	"tare/workload"
)

// dockerIn is Docker's command line in a host (engine/docker).
const dockerIn = "/run/tare/docker/bin/docker --config /run/tare/docker --host unix:///run/tare/docker/docker.sock "

// asRoot reports whether this process may start real engines. CI runs as root.
func asRoot(t *testing.T) bool {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Logf("this process is uid %d's: real engines run as root only", os.Geteuid())
		return false
	}
	return true
}

// As root every network of Docker's can be set up here, and is tried quickly.
func TestRealDockerIsListed(t *testing.T) {
	if !asRoot(t) {
		return
	}
	labtest.NoLeaks(t)
	l, err := site.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	probed, err := l.Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	docker := map[string]bool{}
	for _, n := range ofFamily("docker") {
		docker[n.Name] = n.Name != "docker-ovs" // whose data path may be a stand-in
	}
	for _, a := range probed {
		if docker[a.Name] && (a.Error != "" || a.Fidelity != catalog.Product) {
			t.Errorf("%s can't be set up as %s: %s: %s", a.Name, a.Fidelity, a.Missing, a.Error)
		}
	}
}

// All networks with containers of Docker's but the overlay: four share one engine, and its
// passenger.
func TestRealDocker(t *testing.T) {
	if !asRoot(t) {
		return
	}
	var all []site.ClusterSpec
	for _, spec := range clusters("docker") {
		if n, _ := kinds.Find(spec.Network); n.Engine != "" && spec.Axes.Count("ip") != 6 {
			spec.Params = map[string]string{catalog.With: "exec sleep 601"}
		}
		if spec.Network != "docker-overlay" {
			all = append(all, spec)
		}
	}
	l := build(t, all...)
	t.Run("a passenger runs once on each host", func(t *testing.T) {
		running := shell(t, l, "docker-bridge.h1", "cat /proc/[0-9]*/cmdline | tr '\\0' '\\n' | grep -c '^60[1]$'")
		labtest.Equal(t, "passengers of two hosts", strings.TrimSpace(running), "2")
	})
	keepPromises(t, l)
	t.Run("it is the product", func(t *testing.T) { dockerIsTheProduct(t, l) })
	t.Run("four networks share an engine", func(t *testing.T) { shareAnEngine(t, l) })
	t.Run("a host weighs as much as its CPUs", func(t *testing.T) { weighsAsItsCPUs(t, l) })
	t.Run("nat rewrites both addresses", func(t *testing.T) { dockerNATRewrites(t, l) })
	t.Run("macvlan rewrites nothing", func(t *testing.T) { rewritesNothing(t, l, "docker-macvlan") })
	t.Run("docker-proxy carries the bytes", func(t *testing.T) { dockerProxyCarries(t, l) })
	t.Run("ports are of Open vSwitch", func(t *testing.T) { portsAreOfOVS(t, l) })
	t.Run("hosts are sealed", func(t *testing.T) { hostsAreSealed(t, l) })
	t.Run("containers have the machine's programs", func(t *testing.T) { hasTheMachinesPrograms(t, l, "docker-bridge") })
	t.Run("processes end", func(t *testing.T) { processesEnd(t, l) })
}

// The overlay is on three hosts, whose engines are one swarm. It has its own lab, since Swarm gives
// up what takes long.
func TestRealDockerOverlay(t *testing.T) {
	if !asRoot(t) {
		return
	}
	three := on("docker-overlay")
	three.Hosts = 3
	l := build(t, three)
	keepPromises(t, l)
	t.Run("it is the product", func(t *testing.T) { dockerIsTheProduct(t, l) })
	t.Run("it encapsulates", func(t *testing.T) { overlayEncapsulates(t, l) })
	t.Run("it has names", func(t *testing.T) { overlayHasNames(t, l) })
}

func dockerIsTheProduct(t *testing.T, l *site.Lab) {
	for _, b := range l.Topology.Clusters {
		if b.Network == "docker-ovs" {
			labtest.NotEqual(t, "version of ovs-vswitchd", b.Parts["ovs-vswitchd"], "")
		} else {
			labtest.Equal(t, "fidelity of "+b.Name, b.Fidelity, catalog.Product)
			labtest.NotEqual(t, "version of runc", b.Parts["runc"], "")
		}
		labtest.NotEqual(t, "version of dockerd", b.Parts["dockerd"], "")
	}
}

// shareAnEngine holds that one engine has the containers of four networks, and no others.
func shareAnEngine(t *testing.T, l *site.Lab) {
	listed := strings.Fields(shell(t, l, "docker-host.h1", dockerIn+"ps --format '{{.Names}}'"))
	var want []string
	for _, n := range ofFamily("docker") {
		if n.Engine != "" {
			want = append(want, n.Name+"-h1-c1", n.Name+"-h1-c2")
		}
	}
	slices.Sort(listed)
	slices.Sort(want)
	if !slices.Equal(listed, want) {
		t.Errorf("the engine lists %v, want %v", listed, want)
	}
}

// weighsAsItsCPUs holds that on each CPU all that a host runs weighs as one process of the
// machine.
func weighsAsItsCPUs(t *testing.T, l *site.Lab) {
	for host, list := range built(t, l, "docker-host").CPUs {
		cpus, err := lab.ParseCPUSet(list)
		if err != nil {
			t.Fatal(err)
		}
		shares, err := os.ReadFile("/sys/fs/cgroup/cpu/" + l.Topology.Spec.Cgroup + lab.CgroupMark + list + "/cpu.shares")
		if err == nil && strings.TrimSpace(string(shares)) != strconv.Itoa(1024*len(cpus)) {
			t.Errorf("the control group of %s weighs %s on CPUs %s", host, shares, list)
		}
	}
}

// dockerNATRewrites holds that what leaves is masqueraded, and the published port is reached by
// Docker's own rule.
func dockerNATRewrites(t *testing.T, l *site.Lab) {
	const at = "docker-nat"
	ends := built(t, l, at).Paths[catalog.ContainerToPublishedPort]
	dial, bind := fmt.Sprintf("%s:%d", ends.Dial, network.Port), fmt.Sprintf("%s:%d", ends.Bind, network.Port)
	for _, client := range []string{at + ".h1/c1", at + ".h1"} {
		if got := seenAs(t, l, client, dial, at+".h2/c1", bind); got != host1 {
			t.Errorf("the server sees %s as %s, want %s", client, got, host1)
		}
	}
	rule := shell(t, l, at+".h2", "/run/tare/docker/bin/iptables -t nat -xvnL DOCKER | grep dpt:5210 | grep tcp")
	if hits, err := strconv.Atoi(strings.Fields(rule)[0]); err != nil || hits < 2 || !strings.Contains(rule, bind) {
		t.Errorf("Docker's rule has been met %d times, %v: %s", hits, err, rule)
	}
	// To the outside: the other host itself.
	if got := seenAs(t, l, at+".h1/c2", host2+":99", at+".h2", host2+":99"); got != host1 {
		t.Errorf("a host outside sees h1/c2 as %s, want %s", got, host1)
	}
}

// rewritesNothing holds that a server on the underlay sees a container there as what it is.
func rewritesNothing(t *testing.T, l *site.Lab, at string) {
	t.Helper()
	server := built(t, l, at).Paths[catalog.CrossHost].Bind.String() + ":99"
	if got := seenAs(t, l, at+".h1/c1", server, at+".h2/c1", server); got != "10.0.4.1" {
		t.Errorf("the server sees h1/c1 as %s, want 10.0.4.1", got)
	}
}

// dockerProxyCarries holds that Docker's own process carries what goes through the published
// port.
func dockerProxyCarries(t *testing.T, l *site.Lab) {
	const at = "docker-proxy"
	for _, client := range []string{at + ".h1/c1", at + ".h1"} {
		if got := seenAs(t, l, client, publishedAddress, at+".h2/c1", containerAddress); got != gateway2 {
			t.Errorf("the server sees %s as %s, want the proxy at %s", client, got, gateway2)
		}
	}
	b, run := built(t, l, at), workload.Run{Size: 1000}
	// Of UDP the kernel counts what is written to the container.
	written := func() float64 { return ofProxy(t, l, "udp", "/^wchar/ { print $2 }", "io") }
	before := written()
	out := measure(t, l, b, catalog.PublishedPort, "udp_rr", run)
	labtest.AtLeast(t, "bytes that docker-proxy wrote, to those that the client sent", written()-before, 1000*out.Client.Work)
	// TCP is spliced, which the kernel does not count: each message takes time.
	onCPU := func() float64 { return ofProxy(t, l, "tcp", "{ ns += $1 } END { print ns }", "task/*/schedstat") }
	before = onCPU()
	out = measure(t, l, b, catalog.PublishedPort, "tcp_rr", run)
	labtest.AtLeast(t, "ns of docker-proxy for two messages of each transaction", onCPU()-before, 2*500*out.Client.Work)
}

// ofProxy reads a number of the docker-proxy of h2, as awk finds it in its files
// of /proc.
func ofProxy(t *testing.T, l *site.Lab, protocol, awk, files string) float64 {
	t.Helper()
	proxy := processOf("docker-proxy -proto " + protocol + " -host-ip 10.0.0.2 -host-port 5210")
	text := shell(t, l, "docker-proxy.h2", "cd /proc/$("+proxy+") && awk '"+awk+"' "+files)
	number, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil {
		t.Fatal(err)
	}
	return number
}

// overlayEncapsulates holds that between hosts each packet has the stack's 50 bytes more.
func overlayEncapsulates(t *testing.T, l *site.Lab) {
	const iptables = "/run/tare/docker/bin/iptables -t raw "
	inner := 1000 + udpHeaders + wire.VXLAN().Bytes()
	shell(t, l, "docker-overlay.h1", iptables+fmt.Sprintf("-A OUTPUT -p udp --dport 4789 -m length --length %d", inner))
	done := measure(t, l, built(t, l, "docker-overlay"), catalog.CrossHost, "udp_rr", workload.Run{Size: 1000}).Client.Work
	hits := strings.Fields(shell(t, l, "docker-overlay.h1", iptables+"-xvnL OUTPUT | grep 4789"))[0]
	packets, err := strconv.ParseFloat(hits, 64)
	if err != nil {
		t.Fatal(err)
	}
	labtest.AtLeast(t, fmt.Sprintf("packets of %d bytes for port 4789 in as many transactions", inner), packets, done)
}

// overlayHasNames holds that Docker's name server knows the containers of other hosts.
func overlayHasNames(t *testing.T, l *site.Lab) {
	for _, host := range []string{"h2", "h3"} {
		printed, status, err := exec(t.Context(), l, "docker-overlay.h1/c1", "/proc/self/exe", docker.LookUpVerb, "docker-overlay-"+host+"-c1")
		want := link(t, l, "docker-overlay."+host+"/c1", lab.Device).Addresses[0].Addr().String()
		if err != nil || status != 0 || strings.TrimSpace(printed) != want {
			t.Errorf("Docker's name server gives %q for %s/c1, status %d, %v, want %s", printed, host, status, err, want)
		}
	}
}

// portsAreOfOVS holds that Docker starts the containers and has no part in their network: they
// are on ports of Open vSwitch.
func portsAreOfOVS(t *testing.T, l *site.Lab) {
	const at = "docker-ovs"
	rewritesNothing(t, l, at)
	// To the outside: the other host itself.
	if got := seenAs(t, l, at+".h1/c2", host2+":99", at+".h2", host2+":99"); got != "10.0.4.2" {
		t.Errorf("a host outside sees h1/c2 as %s", got)
	}
	for _, c := range []string{"c1", "c2"} {
		mode := shell(t, l, at+".h1", dockerIn+"inspect --format '{{.HostConfig.NetworkMode}}' docker-ovs-h1-"+c)
		labtest.Equal(t, "network of "+c, strings.TrimSpace(mode), "none")
		labtest.Equal(t, "bridge of "+c, strings.TrimSpace(shell(t, l, at+".h1", "ovs-vsctl port-to-br veth-"+c)), "br0")
	}
}
