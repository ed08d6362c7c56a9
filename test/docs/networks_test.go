package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tare/network"
	"tare/result"
	"tare/test/labtest"
)

// machine makes, in namespaces of its own, the host that the commands of a
// network's page are typed on.
const machine = `set -eu
mount -t tmpfs none /run
ip link set lo up
ip link add eth0 type veth peer name wire
ip addr add 10.0.0.1/16 dev eth0
ip link set wire up
ip link set eth0 up
`

// TestLabNetworkCommands types what the pages say of the networks that this
// kernel has by itself, and asks whether the container then reaches its host.
func TestLabNetworkCommands(t *testing.T) {
	binary := labtest.Tare(t)
	here := asDeclared(t, binary)
	for _, n := range network.All() {
		commands := firstOf(t, page(n), "sh")
		if commands == "" || len(n.Needs) > 0 || !here[n.Name] {
			continue // nothing to type, or not in this kernel
		}
		t.Run(n.Name, func(t *testing.T) {
			check := "ip netns exec c1 ping -c 1 -W 5 10.0.0.1\n"
			if n.Name == "macvlan" { // the kernel keeps it from its own host
				check = "ip -n c1 addr show dev eth0 up\n"
			}
			shell := exec.Command("unshare", "-Urmn", "sh", "-c", machine+commands+check)
			shell.Env = append(os.Environ(), "PATH="+os.Getenv("PATH")+":/usr/sbin:/sbin")
			if out, err := shell.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// asDeclared tells of each network whether it runs here with the fidelity that
// it declares: without a module, another part may stand for it.
func asDeclared(t *testing.T, binary string) map[string]bool {
	t.Helper()
	out, err := exec.Command(binary, "list", "networks", "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var listed []struct {
		Name, Fidelity string
		Available      bool
	}
	if err := json.Unmarshal(out, &listed); err != nil {
		t.Fatal(err)
	}
	here := map[string]bool{}
	for _, l := range listed {
		n, _ := network.Find(l.Name)
		here[l.Name] = l.Available && l.Fidelity == n.Fidelity
	}
	return here
}

// tries is how often a toll may be weighed: a machine that does other work can
// spoil the windows of one try.
const tries = 3

// TestLabKnownToll weighs a network that was given 80 % of the others' link: the
// whole way from a plan to a toll, against a truth from outside.
func TestLabKnownToll(t *testing.T) {
	binary := labtest.Tare(t)
	var off []string
	for range tries {
		off = nil
		tolls, text := knownTolls(t, binary)
		for name, want := range map[string]float64{"route": 0.20, "ptp": 0} {
			if got, ok := tolls[name]; !ok || math.Abs(got-want) > 0.03 {
				off = append(off, fmt.Sprintf("toll of %s is %.3f, want %.2f\n%s", name, got, want, text))
			}
		}
		if len(off) == 0 {
			return
		}
	}
	t.Error(strings.Join(off, "\n"))
}

// knownTolls runs the example and gives its tolls and what it printed.
func knownTolls(t *testing.T, binary string) (tolls map[string]float64, printed string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "result.json")
	text, err := exec.Command(binary, "run", filepath.Join(root, "examples/known-toll.yaml"), "--duration", "400ms", "--out", out).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	res, err := result.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	tolls = map[string]float64{}
	for _, cell := range res.Cells {
		for _, m := range cell.Metrics {
			if m.Name == "throughput" && m.Toll != nil {
				tolls[cell.Network] = m.Toll.Value
			}
		}
	}
	return tolls, string(text)
}
