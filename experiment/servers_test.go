package experiment

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"tare/catalog"
	"tare/network"
	"tare/network/kinds"
	"tare/result"
	"tare/site"
	"tare/test/labtest"
	"tare/workload"
)

// killServer ends the nginx of the place where it runs, and no other. A worker
// that ends with its master before its own turn is as good as ended.
const killServer = `for p in $(pgrep -x nginx); do
	[ "$(readlink /proc/$p/ns/net)" = "$(readlink /proc/self/ns/net)" ] || continue
	kill $p 2>/dev/null || [ ! -d /proc/$p ]
done`

// TestRealServersThatFailEndTheirCells weighs five networks with the real server.
// That of one dies in the run, another finds its port taken, a third has no room
// for what it should send: their cells end with the reason, and all others are
// measured.
func TestRealServersThatFailEndTheirCells(t *testing.T) {
	labtest.NoLeaks(t)
	ctx := t.Context()
	const path = catalog.SameHost
	plan := Complete(result.Plan{
		Networks: result.NetworksNamed("host", "veth", "bridge", "ptp", "macvlan"), Paths: []string{path},
		Workloads: []result.WorkloadPlan{{Name: "http", Size: 1 << 20}}, Axes: result.PlanAxes{"nic": {"full"}},
		Blocks: 3, Duration: 0.1, Warmup: 0.01, Design: result.DesignWindows, // a busy machine may take all slots of a block
	})
	plan, err := Equip(plan)
	if err != nil {
		t.Fatal(err)
	}
	l, err := site.Start(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := l.Build(ctx, Spec(plan, 2, 2)); err != nil {
		t.Fatal(err)
	}
	ends := map[string]network.Ends{}
	for _, u := range l.Topology.Clusters {
		ends[u.Name] = u.Paths[path]
	}
	shell := func(at, line string) {
		if status, err := l.Exec(ctx, at, []string{"sh", "-ec", line}, os.Stdin, os.Stdout, os.Stderr); err != nil || status != 0 {
			t.Errorf("%s at %s: status %d: %v", line, at, status, err)
		}
	}
	defer listenFirst(t, l, "ptp."+ends["ptp"].Server, ends["ptp"].Bind)()
	shell("macvlan."+ends["macvlan"].Server, "mount -o remount,size=256k /run")
	kill := sync.OnceFunc(func() { shell("bridge."+ends["bridge"].Server, killServer) })
	res, err := Run(ctx, plan, Options{
		Site: l, Topology: l.Topology, Save: func(*result.Result) error { return nil },
		Progress: func(p Progress) {
			if p.Block == 1 {
				kill()
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	reasons := map[string][]string{
		"bridge":  {"nginx ended", "its log ends: ", "signal 15"},
		"ptp":     {"port 5212 is in use", "ss -ltnp"},
		"macvlan": {"write body", "no space left on device", "the folder is in memory"},
	}
	for _, cell := range res.Cells {
		words, fails := reasons[cell.Network]
		if cell.Workload != "http" || !fails {
			if cell.Status != result.StatusOK || len(cell.Metrics) == 0 {
				t.Errorf("%s under %s: %s %s", cell.Network, cell.Workload, cell.Status, cell.Reason)
			}
			continue
		}
		for _, text := range words {
			if cell.Status != result.StatusFailed || !strings.Contains(cell.Reason, text) {
				t.Errorf("%s: %s %q does not contain %q", cell.Network, cell.Status, cell.Reason, text)
			}
		}
	}
}

// listenFirst takes the port of the real server at a place, until it is ended.
func listenFirst(t *testing.T, l *site.Lab, at string, bind netip.Addr) (end func()) {
	t.Helper()
	kind, _ := workload.Find("http")
	listen := netip.AddrPortFrom(bind, kind.ServedBy[0].Port).String()
	output, input, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		argv := []string{"/proc/self/exe", kinds.RelayVerb, listen + "/tcp=127.0.0.1:1"}
		if _, err := l.Exec(ctx, at, argv, os.Stdin, input, os.Stderr); err != nil && ctx.Err() == nil {
			t.Error(err)
		}
	})
	if _, err := bufio.NewReader(output).ReadString('\n'); err != nil && err != io.EOF {
		t.Fatal(fmt.Errorf("start what takes the port: %w", err))
	}
	return func() {
		cancel()
		running.Wait()
		output.Close()
		input.Close()
	}
}

// TestServersListenWhereNetworksPublish compares two lists that are in packages
// which may not import each other.
func TestServersListenWhereNetworksPublish(t *testing.T) {
	for _, kind := range workload.All() {
		for _, server := range kind.ServedBy {
			published := network.UDPServerPorts()
			if kind.TCP {
				published = network.ServerPorts()
			}
			if server.Port == network.Port || !slices.Contains(published, server.Port) {
				t.Errorf("%s listens at %d: networks publish %v, the first of them for the engine", server.Name, server.Port, published)
			}
		}
	}
}
