package lab

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"tare/result"
)

// testAdopt takes a process in a new network namespace for a container
// that an engine made.
func testAdopt(t *testing.T) {
	l := open(t)
	cluster := setUp(t, l, pairOf("x"))
	h := cluster.Hosts[0]
	engine, err := h.StartDaemon(Daemon{
		Name: "c", Argv: []string{"unshare", "--net", "sh", "-c", "touch " + Scratch + "/up; exec sleep 100"}, Ready: hasFile(Scratch + "/up"),
	})
	if err != nil {
		t.Fatal(err)
	}
	c := adopt(t, h, engine.PID, "nsenter", fmt.Sprintf("--net=/proc/%d/ns/net", engine.PID))
	if found, err := l.Find("x.h1/c1"); err != nil || found != c.Namespace {
		t.Errorf("Find = %v, %v", found, err)
	}
	want, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", engine.PID))
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := run(t, l, c.Namespace, "readlink /proc/self/ns/net"); got != want {
		t.Errorf("a command runs in %s, the container is %s", got, want)
	}
	for _, want := range connectionSysctls() {
		if value, err := c.ReadSysctl(want.path); err != nil || value != want.value {
			t.Errorf("%s = %q, %v; want %s", want.path, value, err, want.value)
		}
	}
	// A route that the engine added gets the lab's congestion control.
	if _, status := run(t, l, c.Namespace, "ip link add d type dummy && ip link set d up && ip route add 192.0.2.0/24 dev d || ip route add 192.0.2.0/24 dev lo"); status != 0 {
		t.Fatalf("add a route: status %d", status)
	}
	if err := c.SettleCC(); err != nil {
		t.Fatal(err)
	}
	if routes := inspect(t, c.Namespace).Routes; !slices.ContainsFunc(routes, func(r result.Route) bool {
		return r.To.String() == "192.0.2.0/24" && r.CC == "cubic"
	}) {
		t.Errorf("routes %v", routes)
	}
	// One whose device was removed meanwhile is left alone.
	local, err := c.localRoutes()
	if err != nil || len(local) == 0 {
		t.Fatalf("local routes %v, %v", local, err)
	}
	local[0].LinkIndex = 1 << 20
	if err := c.replace(local[0]); err == nil || !withItsDevice(err) {
		t.Errorf("a route through a device that is not there: %v", err)
	}
	absent, err := h.AddContainer()
	if err != nil {
		t.Fatal(err)
	}
	if err := absent.Adopt(1<<22, "true"); err == nil || !strings.Contains(err.Error(), "adopt container x.h1/c2") {
		t.Errorf("a process that is not there: %v", err)
	}
	if got := len(h.Containers()); got != 1 {
		t.Errorf("%d containers, want 1", got)
	}
}

// adopt makes a process's network namespace the host's next container.
func adopt(t *testing.T, h *Host, pid int, enter ...string) *Container {
	t.Helper()
	c, err := h.AddContainer()
	if err == nil {
		err = c.Adopt(pid, enter...)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCommandOfAnAdoptedContainer(t *testing.T) {
	host := &Namespace{Name: "x.h1"}
	c := &Namespace{Name: "x.h1/c1", from: host, via: []string{"docker", "exec", "-i", "ID"}}
	for _, one := range []struct{ argv, want []string }{
		{[]string{Self, "agent"}, []string{"docker", "exec", "-i", "ID", SelfInImage, "agent"}},
		{[]string{"ip", "addr"}, []string{"docker", "exec", "-i", "ID", "ip", "addr"}},
	} {
		if in, argv := c.command(one.argv); in != host || !slices.Equal(argv, one.want) {
			t.Errorf("%v starts as %v in %s", one.argv, argv, in.Name)
		}
	}
	if in, argv := host.command([]string{Self}); in != host || argv[0] != Self {
		t.Errorf("in a host: %v in %s", argv, in.Name)
	}
}

// testShare has two networks on one engine's hosts: what one makes is removed with
// it, what the engine made stays.
func testShare(t *testing.T) {
	l := open(t)
	engine := setUp(t, l, pairOf("engine"))
	daemon, err := engine.Hosts[0].StartDaemon(Daemon{Name: "d", Argv: []string{"sleep", "100"}})
	if err != nil {
		t.Fatal(err)
	}
	var shared []*Cluster
	for _, name := range []string{"a", "b"} {
		cluster, err := l.Share(engine, name)
		if err != nil {
			t.Fatal(err)
		}
		create(t, cluster.Hosts[0])
		shared = append(shared, cluster)
	}
	own, err := shared[0].Hosts[0].StartDaemon(Daemon{Name: "own", Argv: []string{"sleep", "100"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Remove(shared[0]); err != nil {
		t.Error(err)
	}
	<-own.Done
	if _, err := l.Find("a.h1/c1"); err == nil {
		t.Error("the container of a network that was removed is there")
	}
	if _, err := l.Find("b.h1/c1"); err != nil {
		t.Error(err)
	}
	select {
	case <-daemon.Done:
		t.Error("the engine's daemon went with one of its networks")
	default:
	}
	for _, h := range []*Host{engine.Hosts[0], shared[1].Hosts[0]} {
		if !linkOf(t, h.Namespace, Device).Up {
			t.Errorf("%s is not whole", h.Name)
		}
	}
}
