package diagnosis

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tare/bench/harness"
	"tare/network/kinds"
	"tare/test/labtest"
)

func TestMain(m *testing.M) {
	if err := os.Setenv(labtest.Mark, fmt.Sprintf("diagnosis-%d", os.Getpid())); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// TestEveryCauseIsInjected holds the list: each cause comes in two wordings, on
// paths that the networks have, and has a question; or it names why not.
func TestEveryCauseIsInjected(t *testing.T) {
	for _, n := range listed(t).Naturals {
		if words := strings.Fields(string(n)); len(words) != 3 || len(n.networks()) == 0 {
			t.Errorf("%q is no plan of networks, a path and a workload", n)
		}
	}
	seen := map[string]bool{}
	for _, c := range listed(t).Causes {
		if seen[c.ID] {
			t.Errorf("%s is listed twice", c.ID)
		}
		seen[c.ID] = true
		if (c.NotHere != "") != (len(c.Wordings) == 0) || len(c.Wordings) == 1 {
			t.Errorf("%s has %d wordings and the reason %q", c.ID, len(c.Wordings), c.NotHere)
		}
		for _, w := range c.Wordings {
			of := c.ID + " " + w.Name
			labtest.NotEqual(t, of+": name", w.Name, "")
			labtest.NotEqual(t, of+": does", w.Does, "")
			labtest.AtLeast(t, of+": number of places", len(w.on), 1)
			labtest.AtLeast(t, of+": steps that show the symptom", len(w.Bites), 1)
			labtest.AtLeast(t, of+": number of questions", len(w.Ask), 1)
			for _, at := range w.on {
				if n, known := kinds.Find(at.network()); !known || len(strings.Fields(string(at))) != 2 || !n.Serves(at.path()) {
					t.Errorf("%s: no network has the path %q", of, at)
				}
			}
			for _, q := range w.Ask {
				if words := strings.Fields(string(q)); !q.ofDoctor() && (len(words) < 2 || words[0] != "run") {
					t.Errorf("%s: %q is no question", of, q)
				}
			}
			for _, one := range slices.Concat(w.Inject, w.Bites) {
				if !slices.Contains([]string{client, server, near, far}, one.At) {
					t.Errorf("%s: a script is typed at %q, which is no place", of, one.At)
				}
			}
		}
	}
}

// listed is the data.
func listed(t *testing.T) data {
	t.Helper()
	d, err := readData()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestDeepPublishedFaultsAreMended brings about the faults that published
// measurements ran into: doctor and run name each before all others, and its fix
// as it is given takes the symptom away, by the kernel's own tools. An overlay
// must be joined again, which no command of one host does. The trials mostly wait for
// what does not arrive: they run at the same time.
func TestDeepPublishedFaultsAreMended(t *testing.T) {
	b := bench{tare: built(t), asks: true}
	for _, one := range []struct{ cause, wording, network, mended string }{
		{"mtu-black-hole", "far-underlay", "vxlan", mended},
		{"docker-chain-missing", "all", "docker-nat", mended},
		{"forward-reject", "host-prohibited", "ptp", mended},
		{"port-closed", "reset", "route", mended},
		{"bgp-wrong-interface", "session", "bgp", mended},
		{"overlay-stale-vxlan", "moved", "vxlan", ""},
	} {
		t.Run(one.cause, func(t *testing.T) {
			t.Parallel()
			c, w, at := chosen(t, one.cause, one.wording, one.network)
			w.Ask = []question{doctor, "run tcp_stream --blocks 2"}
			trial := b.take(t.Context(), c, w, at)
			if trial.Error != "" || len(trial.Verdicts) != len(w.Ask) || trial.Mended != one.mended {
				t.Errorf("%d verdicts, %q, error %q: want %d and %q", len(trial.Verdicts), trial.Mended, trial.Error, len(w.Ask), one.mended)
			}
			for _, v := range trial.Verdicts {
				if v.first() != one.cause {
					t.Errorf("%s names %v first, error %q", v.Asked, v.Found, v.Error)
				}
			}
		})
	}
}

// built returns the path of tare and holds the test to leave nothing behind.
func built(t *testing.T) harness.Tare {
	t.Helper()
	tare := harness.Tare(labtest.Tare(t))
	labtest.NoLeaks(t)
	return tare
}

// TestDeepInjectionsBite makes a handful of injections, one of each kind of place,
// and looks for their symptoms with the kernel's own tools.
func TestDeepInjectionsBite(t *testing.T) {
	b := bench{tare: built(t)}
	for _, one := range []struct{ cause, wording, network string }{
		{"wrong-mac", "client", "bridge"},
		{"many-rules", "prerouting", "route"},
		{"congestion-control", "bbr", "veth"},
		{"port-closed", "unpublished", "docker-proxy"},
	} {
		c, w, at := chosen(t, one.cause, one.wording, one.network)
		trial := b.take(context.Background(), c, w, at)
		if trial.Error != "" {
			t.Errorf("%s %s on %s: %s", one.cause, one.wording, one.network, trial.Error)
		}
	}
}

// TestDeepToothlessInjection makes sure that an injection which does nothing fails
// as such, and one whose symptom exists without it too.
func TestDeepToothlessInjection(t *testing.T) {
	b := bench{tare: built(t), asks: true}
	for check, want := range map[string]string{`false`: "does not bite", `true`: "before the injection"} {
		w := wording{Inject: []step{{client, `true`}}, Bites: []step{{client, check}}, Ask: []question{doctor}}
		trial := b.take(context.Background(), cause{}, w, "veth same-host")
		if !strings.Contains(trial.Error, want) || len(trial.Verdicts) > 0 {
			t.Errorf("a check that returns %s: error %q and %d verdicts, want %q and none", check, trial.Error, len(trial.Verdicts), want)
		}
	}
}

// TestDeepKilledBenchLeavesNoLab kills the bench by a signal that it can't catch,
// while its lab is up.
func TestDeepKilledBenchLeavesNoLab(t *testing.T) {
	bench := filepath.Join(t.TempDir(), "bench")
	if out, err := exec.Command("go", "build", "-o", bench, "tare/bench").CombinedOutput(); err != nil {
		t.Fatalf("build the bench: %v: %s", err, out)
	}
	tare := built(t)
	cmd := exec.Command(bench, "diagnosis", "-tare", string(tare), "-bites", "-causes", "forward-drop", "-networks", "route", "-wording", "policy")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("bench-%d-", cmd.Process.Pid)
	up := func() bool {
		out, err := exec.Command(string(tare), "lab", "list").Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(string(out), name)
	}
	labtest.Await(t, "the lab is up", up)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("the bench was done before it was killed")
	}
	labtest.Await(t, "the lab is gone", func() bool { return !up() })
}

func chosen(t *testing.T, id, name, networkName string) (cause, wording, spot) {
	t.Helper()
	for _, c := range listed(t).Causes {
		for _, w := range c.Wordings {
			n := slices.IndexFunc(w.on, func(at spot) bool { return at.network() == networkName })
			if c.ID == id && w.Name == name && n >= 0 {
				return c, w, w.on[n]
			}
		}
	}
	t.Fatalf("%s %s on %s is not on the list", id, name, networkName)
	return cause{}, wording{}, ""
}
