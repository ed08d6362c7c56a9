package lab

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"

	"tare/catalog"
	"tare/probe"
	"tare/test/labtest"
)

// inside are the tests that run as the init of a lab.
var inside = []struct {
	about string
	test  func(*testing.T)
}{
	{"two hosts and a container", testHosts},
	{"each NIC model sets its features", testNICs},
	{"a host without neighbours and a switch", testSwitch},
	{"sysctls are the lab's", testSysctls},
	{"an unknown congestion control is refused", testUnknownCC},
	{"one cluster is removed and the others stay", testRemove},
	{"a host holds so many containers", testMostContainers},
	{"containers come and go", testComeAndGo},
	{"a command runs in its host", testCommand},
	{"a host has its own files", testMounts},
	{"a daemon ends with the lab", testDaemon},
	{"what a daemon leaves ends with its host", testRemains},
	{"an engine's client passes the end on", testEnd},
	{"what a process started in other groups ends with it", testEndOfKin},
	{"rules are added and shown", testRules},
	{"owners remove their rules at the same time", testDropRules},
	{"routes of a daemon are distinguished", testLearned},
	{"a neighbour's MAC address is known or not", testResolved},
	{"packets are steered or a warning is given", testSteering},
	{"a daemon is started and waited for", testStartDaemon},
	{"a daemon that ends is started again", testDaemonStartsAgain},
	{"a daemon that fails is quoted", testDaemonThatFails},
	{"a command is run to its end", testRun},
	{"CPU time and memory are those of the lab", testUsage},
	{"devices that see a packet are named", testWatch},
	{"a container of another's is adopted", testAdopt},
	{"hosts are shared", testShare},
	{"IPv4 travels in IPv4", testIPIP},
	{"only the peers' IPIP is taken", testIPIPUnknownSender},
	{"a VLAN's packets travel with its tag", testVLAN},
	{"a program attaches as a classifier too", testClassifier},
	{"a device is taken from another namespace", testTakeFrom},
}

// open makes a lab that ends with the test.
func open(t *testing.T) *Lab {
	t.Helper()
	usable, err := UsableCPUs()
	if err != nil {
		t.Fatal(err)
	}
	l := New(Config{CC: "cubic", Pin: catalog.PinApart, Steer: true, All: usable})
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func setUp(t *testing.T, l *Lab, spec ClusterSpec) *Cluster {
	t.Helper()
	cluster, err := l.NewCluster(spec)
	if err != nil {
		t.Fatal(err)
	}
	return cluster
}

// pairOf is a cluster of two hosts.
func pairOf(name string) ClusterSpec {
	return ClusterSpec{Name: name, Hosts: 2, MTU: 1500, NIC: NICFull}
}

// linkOf is a device as the kernel shows it.
func linkOf(t *testing.T, ns *Namespace, name string) probe.Link {
	t.Helper()
	links := inspect(t, ns).Links
	for _, link := range links {
		if link.Name == name {
			return link
		}
	}
	t.Fatalf("%s has no %s: %+v", ns.Name, name, links)
	return probe.Link{}
}

// inspect reads what a namespace holds.
func inspect(t *testing.T, ns *Namespace) probe.Inventory {
	t.Helper()
	var held probe.Inventory
	if err := ns.Do(func() (err error) { held, err = probe.Inspect("/"); return err }); err != nil {
		t.Fatalf("look at %s: %v", ns.Name, err)
	}
	return held
}

// create makes the host's next container.
func create(t *testing.T, h *Host) *Container {
	t.Helper()
	c, err := h.AddContainer()
	if err == nil {
		err = c.Create()
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func testHosts(t *testing.T) {
	l := open(t)
	spec := pairOf("x")
	spec.MTU = 9000
	cluster := setUp(t, l, spec)
	c := create(t, cluster.Hosts[1])
	found, err := l.Find("x.h2/c1")
	if err != nil || found != c.Namespace {
		t.Errorf("Find = %v, %v", found, err)
	}
	if _, err := l.Find("x.h3"); err == nil || !strings.Contains(err.Error(), "tare lab show") {
		t.Errorf("Find of an unknown name: %v", err)
	}
	for n, want := range []string{"10.0.0.1/16", "10.0.0.2/16"} {
		eth := linkOf(t, cluster.Hosts[n].Namespace, Device)
		name := cluster.Hosts[n].Name + ": " + Device
		labtest.Equal(t, name+" up", eth.Up, true)
		labtest.Equal(t, name+" MTU", eth.MTU, 9000)
		labtest.Equal(t, name+" addresses", fmt.Sprint(eth.Addresses), "["+want+"]")
	}
	routes := inspect(t, cluster.Hosts[0].Namespace).Routes
	if len(routes) == 0 {
		t.Error("h1 has no route")
	}
	for _, route := range routes {
		if route.CC != "cubic" {
			t.Errorf("route %q carries no congestion control", route)
		}
	}
	if lo := linkOf(t, c.Namespace, "lo"); !lo.Up {
		t.Error("the container's loopback is down")
	}
}

func testSwitch(t *testing.T) {
	l := open(t)
	for _, hosts := range []int{1, 3} {
		spec := pairOf("s")
		spec.Hosts = hosts
		cluster := setUp(t, l, spec)
		if len(cluster.Hosts) != hosts {
			t.Errorf("%d hosts, want %d", len(cluster.Hosts), hosts)
		}
		if err := l.Remove(cluster); err != nil {
			t.Error(err)
		}
	}
}

func testSysctls(t *testing.T) {
	cluster := setUp(t, open(t), pairOf("x"))
	for path, want := range map[string]string{
		"net/ipv4/tcp_no_metrics_save": "1", "net/ipv4/tcp_slow_start_after_idle": "0",
		"net/ipv4/ip_forward": "1", "net/ipv4/conf/eth0/rp_filter": "0",
	} {
		if got, err := cluster.Hosts[0].ReadSysctl(path); err != nil || got != want {
			t.Errorf("%s = %q, %v; want %s", path, got, err, want)
		}
	}
	if err := cluster.Hosts[0].Sysctl("net/ipv4/no_such", "1"); err == nil || !strings.Contains(err.Error(), "net/ipv4/no_such=1") {
		t.Errorf("a sysctl that does not exist: %v", err)
	}
}

func testUnknownCC(t *testing.T) {
	l := open(t)
	l.CC = "nosuch"
	_, err := l.NewCluster(pairOf("x"))
	if err == nil || !strings.Contains(err.Error(), "--cc") || !strings.Contains(err.Error(), "nosuch") {
		t.Errorf("congestion control nosuch: %v", err)
	}
	if len(l.clusters) != 0 {
		t.Error("the lab keeps a cluster that failed")
	}
}

func testRemove(t *testing.T) {
	l := open(t)
	stays := setUp(t, l, pairOf("stays"))
	before := labtest.Descriptors(t)
	goes := setUp(t, l, pairOf("goes"))
	create(t, goes.Hosts[0])
	if err := l.Remove(goes); err != nil {
		t.Error(err)
	}
	if after := labtest.Descriptors(t); after != before {
		t.Errorf("%d descriptors after, %d before", after, before)
	}
	if _, err := l.Find("goes.h1"); err == nil {
		t.Error("a removed host is found")
	}
	if !linkOf(t, stays.Hosts[0].Namespace, Device).Up {
		t.Error("the other cluster's link is down")
	}
}

func testMostContainers(t *testing.T) {
	cluster := setUp(t, open(t), pairOf("x"))
	h := cluster.Hosts[0]
	for range catalog.MaxContainers {
		if _, err := h.AddContainer(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := h.AddContainer(); err == nil || !strings.Contains(err.Error(), "the most") {
		t.Errorf("one container too many: %v", err)
	}
}

// run runs a shell line and returns its output and how it ended.
func run(t *testing.T, l *Lab, in *Namespace, line string) (string, syscall.WaitStatus) {
	t.Helper()
	readEnd, writeEnd, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer readEnd.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	p, err := l.Processes.Start(in, Command{Argv: []string{"sh", "-c", line}, Env: os.Environ(), Files: [3]*os.File{null, writeEnd, os.Stderr}})
	writeEnd.Close()
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(readEnd)
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done // once it is reaped
	return strings.TrimSpace(string(text)), p.Status
}

func testCommand(t *testing.T) {
	l := open(t)
	cluster := setUp(t, l, pairOf("x"))
	for _, h := range cluster.Hosts {
		cpus, status := run(t, l, h.Namespace, "while read name value; do test $name = Cpus_allowed_list: && echo $value; done < /proc/self/status; exit 7")
		if cpus != h.CPUs.String() || status.ExitStatus() != 7 {
			t.Errorf("in %s: CPUs %q, want %q; status %d", h.Name, cpus, h.CPUs, status.ExitStatus())
		}
	}
	if _, status := run(t, l, cluster.Hosts[0].Namespace, "kill -TERM $$"); status.Signal() != syscall.SIGTERM {
		t.Errorf("killed by %v, want %v", status.Signal(), syscall.SIGTERM)
	}
	_, err := l.Processes.Start(cluster.Hosts[0].Namespace, Command{Argv: []string{"no-such-program"}, Files: [3]*os.File{os.Stdin, os.Stdout, os.Stderr}})
	if err == nil || !strings.Contains(err.Error(), "no-such-program in x.h1") {
		t.Errorf("a program that is not there: %v", err)
	}
}

func testMounts(t *testing.T) {
	l := open(t)
	cluster := setUp(t, l, pairOf("x"))
	c := create(t, cluster.Hosts[0])
	run(t, l, cluster.Hosts[0].Namespace, "echo mine > /run/tare-test")
	for _, where := range []struct {
		in   *Namespace
		want string
	}{{cluster.Hosts[0].Namespace, "mine"}, {c.Namespace, "mine"}, {cluster.Hosts[1].Namespace, ""}} {
		if got, _ := run(t, l, where.in, "cat /run/tare-test 2>/dev/null"); got != where.want {
			t.Errorf("/run/tare-test in %s holds %q, want %q", where.in.Name, got, where.want)
		}
	}
	if _, err := os.Stat("/run/tare-test"); err == nil {
		t.Error("a host's file is in the lab's own /run")
	}
}

func testDaemon(t *testing.T) {
	l := open(t)
	cluster := setUp(t, l, pairOf("x"))
	// A daemon leaves its parent, its session and its process group, and
	// minds no SIGTERM.
	run(t, l, cluster.Hosts[0].Namespace, "(trap '' TERM; exec setsid sleep 100 </dev/null >/dev/null 2>&1) &")
	labtest.Await(t, "its init and the daemon run in the lab", func() bool { return len(labtest.Marked(t)) == 2 })
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if got := len(labtest.Marked(t)); got != 1 {
		t.Errorf("%d processes after the end, want 1", got)
	}
}

func testRules(t *testing.T) {
	cluster := setUp(t, open(t), pairOf("x"))
	err := cluster.Hosts[0].Nftables(func(conn *nftables.Conn) {
		table := conn.AddTable(&nftables.Table{Family: nftables.TableFamilyIPv4, Name: "t"})
		conn.AddChain(&nftables.Chain{Name: "c", Table: table})
	})
	if err != nil {
		t.Fatal(err)
	}
	if rules := inspect(t, cluster.Hosts[0].Namespace).Rules; len(rules) != 1 || rules[0].Chain != "c" {
		t.Errorf("rules %+v, want those of the chain c", rules)
	}
	if rules := inspect(t, cluster.Hosts[1].Namespace).Rules; len(rules) != 0 {
		t.Errorf("the other host's rules %+v, want none", rules)
	}
}

// Owners remove their rules at the same time, in a chain that takes many messages to
// list, and leave none.
func testDropRules(t *testing.T) {
	cluster := setUp(t, open(t), pairOf("x"))
	h := cluster.Hosts[0]
	table := &nftables.Table{Family: nftables.TableFamilyIPv4, Name: "t"}
	chain := &nftables.Chain{Name: "c", Table: table}
	const owners, each = 16, 12
	must(t, h.Nftables(func(conn *nftables.Conn) {
		conn.AddTable(table)
		conn.AddChain(chain)
	}))
	for range each {
		must(t, h.Nftables(func(conn *nftables.Conn) {
			for owner := range owners {
				conn.AddRule(&nftables.Rule{Table: table, Chain: chain, UserData: fmt.Append(nil, owner),
					Exprs: slices.Repeat([]expr.Any{&expr.Counter{}}, 16)})
			}
		}))
	}
	var all sync.WaitGroup
	for owner := range owners {
		all.Go(func() {
			if err := h.DropRules(chain, strconv.Itoa(owner)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if rules := inspect(t, h.Namespace).Rules; len(rules) != 1 || rules[0].Rules != 0 {
		t.Errorf("rules %+v, want an empty chain", rules)
	}
}

func testSteering(t *testing.T) {
	l := open(t)
	cluster := setUp(t, l, pairOf("x"))
	_, err := cluster.Hosts[0].ReadSysctl(defaultSteering)
	if !cluster.RPS {
		if IsRoot() || err == nil || !strings.Contains(strings.Join(cluster.Warnings, "\n"), "no-rps") {
			t.Errorf("no steering (root %t), warnings %q", IsRoot(), cluster.Warnings)
		}
		return
	}
	for _, h := range cluster.Hosts {
		got, _ := run(t, l, h.Namespace, "cat /sys/class/net/eth0/queues/rx-0/rps_cpus")
		if !sameMask(got, h.CPUs.mask()) {
			t.Errorf("rps_cpus of %s is %q, want %q", h.Name, got, h.CPUs.mask())
		}
		// Only the underlay's device steers.
		if err := h.AddBridge("later", 1500, nil); err != nil {
			t.Fatal(err)
		}
		if got, _ := run(t, l, h.Namespace, "cat /sys/class/net/later/queues/rx-0/rps_cpus"); !sameMask(got, "0") {
			t.Errorf("rps_cpus of a later device of %s is %q", h.Name, got)
		}
	}
}
