package experiment

import (
	"net/netip"
	"strings"
	"testing"

	"tare/catalog"
	"tare/network"
	"tare/result"
	"tare/site"
	"tare/test/labtest"
)

// places is a topology of two hosts and a container on each, with the boots of h1, h1/c1 and
// the others.
func places(h1, container, others string) site.Topology {
	addr := netip.MustParseAddr("10.0.0.2")
	cluster := func(name, kind string, client, server string) site.Built {
		return site.Built{
			ClusterSpec: site.ClusterSpec{Name: name, Network: kind, Axes: result.Params{"nic": "full", "mtu": 1400.0}, Baseline: kind == catalog.Baseline},
			Paths:       map[string]network.Ends{catalog.CrossHost: {Client: client, Server: server, Bind: addr, Dial: addr}},
		}
	}
	return site.Topology{
		Spec:   site.Spec{Site: result.SiteEndpoint, Pin: "none"},
		Places: []result.Place{{Name: "h1", Boot: h1}, {Name: "h1/c1", Boot: container}, {Name: "h2", Boot: others}, {Name: "h2/c1", Boot: others}},
		Clusters: []site.Built{
			cluster("host", catalog.Baseline, "h1", "h2"), cluster("host-b", catalog.Baseline, "h1", "h2"),
			cluster("endpoint", catalog.Endpoint, "h1/c1", "h2/c1"),
		},
	}
}

func TestPlanAtPlaces(t *testing.T) {
	plan, err := Sited(Quick(), places("a", "a", "b"), map[string][]string{"bbr": {"h1 to h2"}}, "")
	if err != nil {
		t.Fatal(err)
	}
	labtest.Equal(t, "site", plan.Site, result.SiteEndpoint)
	labtest.Equal(t, "congestion control", plan.Axes.Word("cc"), "bbr")
	labtest.Equal(t, "MTU", plan.Axes.Number("mtu"), 1400)
	labtest.Equal(t, "paths", strings.Join(plan.Paths, ","), catalog.CrossHost)
	labtest.Equal(t, "networks", plan.Networks[0].Name+","+plan.Networks[1].Name, "host,endpoint")
	labtest.Equal(t, "design", plan.Design, result.DesignSlots)
	for _, g := range groupsOf(plan) {
		for _, name := range []string{"nic", "pin", "rps"} {
			labtest.Equal(t, name+" is a cell's", params(plan, g, g.places[0], false).Has(name), false)
		}
	}
	chosen, err := Sited(Quick(), places("a", "a", "b"), map[string][]string{"bbr": {"h1 to h2"}, "cubic": {"h1/c1 to h2/c1"}}, "reno")
	if err != nil || chosen.Workloads[0].CC != "reno" || chosen.Workloads[1].CC != "" || chosen.Axes.Word("cc") != "" {
		t.Errorf("congestion control %q, of bulk data %q, of round trips %q, %v: want reno for bulk data alone", chosen.Axes.Word("cc"), chosen.Workloads[0].CC, chosen.Workloads[1].CC, err)
	}
	windows, err := Sited(Quick(), places("a", "c", "b"), map[string][]string{"bbr": {"h1 to h2"}}, "")
	if err != nil || windows.Design != result.DesignWindows {
		t.Errorf("clients on two machines take turns in %s, %v: want windows", windows.Design, err)
	}
}

// Places with different congestion controls are measured, by one that all may have or by their
// own; what that means for a toll is said.
func TestPlanAtPlacesThatDiffer(t *testing.T) {
	two := map[string][]string{"bbr": {"h1 to h2"}, "cubic": {"h1/c1 to h2/c1"}}
	own, err := Sited(Quick(), places("a", "a", "b"), two, "")
	if err != nil || own.Axes.Word("cc") != "" || own.Workloads[0].CC != "" {
		t.Errorf("congestion control %q, of bulk data %q, %v: want that of each place", own.Axes.Word("cc"), own.Workloads[0].CC, err)
	}
	labtest.Contains(t, "without a common one", Unlike(two, ""), "bbr from h1 to h2, cubic from h1/c1 to h2/c1: none can be chosen for all of them")
	labtest.Contains(t, "with one", Unlike(two, "cubic"), "bulk data has cubic, unless --cc chooses another")
}

func TestPlanThatPlacesCannotHave(t *testing.T) {
	mysql, within := Quick(), Quick()
	mysql.Workloads = []result.WorkloadPlan{{Name: "mysql"}}
	within.Paths = []string{catalog.SameHost}
	one := map[string][]string{"bbr": {"h1 to h2"}}
	for name, c := range map[string]struct {
		plan     result.Plan
		controls map[string][]string
		want     string
	}{
		"a real server": {mysql, one, "workload mysql: it takes programs besides tare"},
		"another path":  {within, one, "same-host: these places have none of them: take some of cross-host"},
	} {
		_, err := Sited(c.plan, places("a", "a", "b"), c.controls, "")
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		labtest.Contains(t, name, err.Error(), c.want)
	}
}

func TestEndsOnTwoMachines(t *testing.T) {
	all := places("a", "a", "b").Places
	labtest.Equal(t, "h1 and h2", apart(all, network.Ends{Client: "h1", Server: "h2"}), true)
	labtest.Equal(t, "h1 and its container", apart(all, network.Ends{Client: "h1/c1", Server: "h1"}), false)
	hosts := []result.Place{{Name: "h1", Boot: "a"}, {Name: "h2", Boot: "b"}}
	labtest.Equal(t, "containers that a site made", apart(hosts, network.Ends{Client: "h1/c1", Server: "h2/c1"}), true)
	labtest.Equal(t, "such a container and its host", apart(hosts, network.Ends{Client: "h1/c1", Server: "h1"}), false)
	labtest.Equal(t, "a lab's", apart(nil, network.Ends{Client: "h1", Server: "h2"}), false)
}
