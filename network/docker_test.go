package network_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tare/engine/docker"
	"tare/lab"
	"tare/network"
	"tare/site"
	"tare/test/labtest"
	"tare/wire"
	"tare/workload"
)

// dockerIn is Docker's command line in a host (engine/docker).
const dockerIn = "/run/tare/docker/bin/docker --config /run/tare/docker --host unix:///run/tare/docker/docker.sock "

// dockers are the networks whose every part is Docker's.
func dockers() []string {
	return []string{"docker-host", "docker-bridge", "docker-nat", "docker-macvlan", "docker-proxy", "docker-overlay"}
}

// asRoot reports whether this process may start real engines. CI runs as root.
func asRoot(t *testing.T) bool {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Logf("this process is uid %d's: real engines run as root only", os.Geteuid())
		return false
	}
	return true
}

// shell runs a script in a host.
func shell(t *testing.T, l *site.Lab, at, script string) string {
	t.Helper()
	printed, status, err := exec(t.Context(), l, at, "sh", "-c", script)
	if err != nil || status != 0 {
		t.Fatalf("%s: %s: status %d, %v: %s", at, script, status, err, printed)
	}
	return printed
}

// buildDocker builds networks of Docker's side by side, and sees that they leave the
// machine as it was.
func buildDocker(t *testing.T, names ...string) *site.Lab {
	t.Helper()
	before := machine(t)
	t.Cleanup(func() {
		if after := machine(t); after != before {
			t.Errorf("the machine is\n%s\nand was\n%s", after, before)
		}
	})
	var all []site.ClusterSpec
	for _, name := range names {
		all = append(all, on(name))
	}
	begun := time.Now()
	var group string
	t.Cleanup(func() { noCgroup(t, group) })
	l := build(t, all...)
	group = l.Topology.Spec.Cgroup
	t.Logf("%v are up after %.1f s", names, time.Since(begun).Seconds())
	return l
}

// machine is what an engine might change and no namespace holds.
func machine(t *testing.T) string {
	t.Helper()
	var text strings.Builder
	for _, pattern := range []string{
		"/etc/docker*", "/etc/docker/*", "/var/lib/docker*", "/var/lib/docker/network/files/*", "/var/lib/containerd/*", "/run/docker*", "/run/containerd*",
		"/var/lib/containers*", "/etc/containers/*", "/run/containers*", "/run/libpod*", "/dev/shm/libpod*", "/sys/fs/cgroup/unified", "/opt/*", "/root/.docker*", "/sys/fs/cgroup/*/docker*", "/sys/fs/cgroup/docker*",
		"/proc/sys/net/bridge",
	} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&text, pattern, paths)
	}
	for _, name := range []string{"kernel/keys/root_maxkeys", "kernel/keys/root_maxbytes", "vm/overcommit_memory", "net/ipv4/ip_forward"} {
		value, err := os.ReadFile("/proc/sys/" + name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(&text, name, " ", string(value))
	}
	return text.String()
}

// noCgroup checks that a lab's control groups are removed, or soon will be: another
// command may be removing it.
func noCgroup(t *testing.T, group string) {
	t.Helper()
	if group == "" {
		return // the lab was not built, and the test has reported why
	}
	for deadline := time.Now().Add(labtest.LeakWait); ; time.Sleep(10 * time.Millisecond) {
		left, err := filepath.Glob("/sys/fs/cgroup/*/" + group + "*")
		own, errOwn := filepath.Glob("/sys/fs/cgroup/" + group + "*")
		if left = append(left, own...); err == nil && errOwn == nil && len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("control groups of %s: %v, %v, %v", group, left, err, errOwn)
			return
		}
	}
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
	for _, a := range probed {
		if slices.Contains(dockers(), a.Name) && (a.Error != "" || a.Fidelity != network.Product) {
			t.Errorf("%s can't be set up as %s: %s: %s", a.Name, a.Fidelity, a.Missing, a.Error)
		}
	}
}

func TestRealDockerEveryPathCarriesTraffic(t *testing.T) {
	if !asRoot(t) {
		return
	}
	l := buildDocker(t, dockers()...)
	for _, name := range dockers() {
		n, known := network.Find(name)
		if !known {
			t.Fatalf("no network %s", name)
		}
		b := built(t, l, name)
		if b.Fidelity != network.Product || b.Parts["dockerd"] == "" || b.Parts["runc"] == "" {
			t.Errorf("%s: fidelity %s, parts %v", name, b.Fidelity, b.Parts)
		}
		for _, path := range n.Paths {
			carries(t, l, b, path, wire.InnerMTU(1500, n.Stack))
		}
		for _, at := range []string{"h1/c1", "h1/c2", "h2/c1", "h2/c2"} {
			if got := link(t, l, name+"."+at, lab.Device).MTU; got != wire.InnerMTU(1500, n.Stack) {
				t.Errorf("MTU at %s of %s is %d, want %d", at, name, got, wire.InnerMTU(1500, n.Stack))
			}
			agent, err := l.Agent(t.Context(), name+"."+at, "client")
			if err != nil {
				t.Fatal(err)
			}
			host, _, _ := strings.Cut(at, "/")
			if agent.Seccomp != "filter" || agent.CPUs != b.CPUs[host] {
				t.Errorf("%s of %s: seccomp %s, CPUs %s, want filter and %s", at, name, agent.Seccomp, agent.CPUs, b.CPUs[host])
			}
		}
	}
	// On each CPU all that a host runs weighs as one process of the machine.
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
	// One engine holds the containers of four networks, and no others.
	listed := strings.Fields(shell(t, l, "docker-host.h1", dockerIn+"ps --format '{{.Names}}'"))
	slices.Sort(listed)
	var want []string
	for _, name := range []string{"docker-bridge", "docker-host", "docker-macvlan", "docker-nat"} {
		want = append(want, name+"-h1-c1", name+"-h1-c2")
	}
	if !slices.Equal(listed, want) {
		t.Errorf("the engine lists %v, want %v", listed, want)
	}
}

// What leaves is masqueraded, and the published port is reached by Docker's own
// rule.
func TestRealDockerNATRewritesBothAddresses(t *testing.T) {
	if !asRoot(t) {
		return
	}
	l := buildDocker(t, "docker-nat")
	b := built(t, l, "docker-nat")
	ends := b.Paths[network.ContainerToPublishedPort]
	dial, bind := fmt.Sprintf("%s:%d", ends.Dial, network.Port), fmt.Sprintf("%s:%d", ends.Bind, network.Port)
	for _, client := range []string{"h1/c1", "h1"} {
		if got := seenAs(t, l, client, dial, "h2/c1", bind); got != host1 {
			t.Errorf("the server sees %s as %s, want %s", client, got, host1)
		}
	}
	rule := shell(t, l, "h2", "/run/tare/docker/bin/iptables -t nat -xvnL DOCKER | grep dpt:5210 | grep tcp")
	if hits, err := strconv.Atoi(strings.Fields(rule)[0]); err != nil || hits < 2 || !strings.Contains(rule, bind) {
		t.Errorf("Docker's rule has been met %d times, %v: %s", hits, err, rule)
	}
	// To the outside: the other host itself.
	if got := seenAs(t, l, "h1/c2", host2+":99", "h2", host2+":99"); got != host1 {
		t.Errorf("a host outside sees h1/c2 as %s, want %s", got, host1)
	}
}

// Docker's own process carries what goes through the published port.
func TestRealDockerProxyCarriesTheBytes(t *testing.T) {
	if !asRoot(t) {
		return
	}
	l := buildDocker(t, "docker-proxy")
	for _, client := range []string{"h1/c1", "h1"} {
		if got := seenAs(t, l, client, publishedAddress, "h2/c1", containerAddress); got != gateway2 {
			t.Errorf("the server sees %s as %s, want the proxy at %s", client, got, gateway2)
		}
	}
	b, run := built(t, l, "docker-proxy"), workload.Run{Size: 1000, Duration: 50 * time.Millisecond}
	// Of UDP the kernel counts what is written to the container.
	written := func() float64 { return ofProxy(t, l, "udp", "/^wchar/ { print $2 }", "io") }
	before := written()
	out := measure(t, l, b, network.PublishedPort, "udp_rr", run)
	if wrote, sent := written()-before, 1000*out.Client.Work; wrote < sent || sent <= 0 {
		t.Errorf("docker-proxy wrote %.0f bytes, the client sent %.0f", wrote, sent)
	}
	// TCP is spliced, which the kernel does not count: each message takes time.
	onCPU := func() float64 { return ofProxy(t, l, "tcp", "{ ns += $1 } END { print ns }", "task/*/schedstat") }
	before = onCPU()
	out = measure(t, l, b, network.PublishedPort, "tcp_rr", run)
	if took, least := onCPU()-before, 2*500*out.Client.Work; took < least || least <= 0 { // ns; two messages a transaction
		t.Errorf("docker-proxy took %.0f ns for %.0f transactions", took, out.Client.Work)
	}
}

// ofProxy reads a number of the docker-proxy of h2, as awk finds it in its files
// of /proc.
func ofProxy(t *testing.T, l *site.Lab, protocol, awk, files string) float64 {
	t.Helper()
	text := shell(t, l, "h2", `for p in /proc/[0-9]*; do
		tr '\0' ' ' <$p/cmdline | grep -q "docker-prox[y] -proto `+protocol+` -host-ip 10.0.0.2 -host-port 5210" && awk '`+awk+`' $p/`+files+`
	done; true`)
	number, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil {
		t.Fatal(err)
	}
	return number
}

// Between hosts each packet has the stack's 50 bytes more, and Docker's name
// server knows the containers of the other host.
func TestRealDockerOverlayEncapsulates(t *testing.T) {
	if !asRoot(t) {
		return
	}
	l := buildDocker(t, "docker-overlay")
	b := built(t, l, "docker-overlay")
	const iptables = "/run/tare/docker/bin/iptables -t raw "
	inner := 1000 + udpHeaders + wire.VXLAN().Bytes()
	rule := fmt.Sprintf("OUTPUT -p udp --dport 4789 -m length --length %d", inner)
	shell(t, l, "h1", iptables+"-A "+rule)
	out := measure(t, l, b, network.CrossHost, "udp_rr", workload.Run{Size: 1000, Duration: 100 * time.Millisecond})
	hits := strings.Fields(shell(t, l, "h1", iptables+"-xvnL OUTPUT | grep 4789"))[0]
	if packets, err := strconv.ParseFloat(hits, 64); err != nil || packets < out.Client.Work || packets <= 0 {
		t.Errorf("%s packets of %d bytes left for port 4789, %v, in %.0f transactions", hits, inner, err, out.Client.Work)
	}
	server := b.Paths[network.CrossHost].Dial.String()
	printed, status, err := exec(t.Context(), l, "h1/c1", "/proc/self/exe", docker.LookUpVerb, "docker-overlay-h2-c1")
	if err != nil || status != 0 || strings.TrimSpace(printed) != server {
		t.Errorf("Docker's name server gives %q for h2/c1, status %d, %v, want %s", printed, status, err, server)
	}
}

// A third host joins the swarm, and reaches the others by name and address.
func TestRealDockerOverlayOfThreeHosts(t *testing.T) {
	if !asRoot(t) {
		return
	}
	three := on("docker-overlay")
	three.Hosts, three.Containers = 3, 1
	l := build(t, three)
	for _, client := range []string{"h1", "h2"} {
		printed, status, err := exec(t.Context(), l, client+"/c1", "/proc/self/exe", docker.LookUpVerb, "docker-overlay-h3-c1")
		if err != nil || status != 0 {
			t.Fatalf("look up h3/c1 from %s: status %d, %v", client, status, err)
		}
		server := strings.TrimSpace(printed) + ":99"
		own := link(t, l, client+"/c1", lab.Device).Addresses[0].Addr().String()
		if got := seenAs(t, l, client+"/c1", server, "h3/c1", server); got != own {
			t.Errorf("h3/c1 sees %s/c1 as %s, want %s", client, got, own)
		}
	}
}

func TestRealDockerMacvlanRewritesNothing(t *testing.T) {
	if !asRoot(t) {
		return
	}
	l := buildDocker(t, "docker-macvlan")
	server := built(t, l, "docker-macvlan").Paths[network.CrossHost].Bind.String()
	if got := seenAs(t, l, "h1/c1", server+":99", "h2/c1", server+":99"); got != "10.0.4.1" {
		t.Errorf("the server sees h1/c1 as %s, want 10.0.4.1", got)
	}
}
