package experiment

import (
	"slices"
	"testing"
	"time"

	"tare/catalog"
	"tare/network"
	"tare/result"
	"tare/site"
	"tare/test/labtest"
	"tare/test/simtest"
)

// TestPairsAvoidPublishedPorts: a host hands on what comes to a port that it publishes, and a doctor
// that was asked for the way to the host itself took that for a fault.
func TestPairsAvoidPublishedPorts(t *testing.T) {
	built := site.Built{Paths: map[string]network.Ends{
		catalog.CrossHost: {Client: "h1/c1", Server: "h2/c1"}, catalog.PublishedPort: {Client: "h1", Server: "h2/c1"},
	}}
	labtest.Equal(t, "port at the host", directPort(built, "h2"), uint16(network.OutsidePort))
	labtest.Equal(t, "port at its container", directPort(built, "h2/c1"), uint16(0))
	labtest.Equal(t, "port at another host", directPort(built, "h1"), uint16(0))
}

// TestStarvedServerLosesNoConnection: of a server that waits for a CPU, some connections got no answer in
// time (a cluster's node at a load of 36), and a doctor said that they were led elsewhere.
func TestStarvedServerLosesNoConnection(t *testing.T) {
	for name, late := range map[string]time.Duration{"late": 2 * time.Second, "lost": time.Hour} {
		simulated(t, func(t *testing.T) {
			connections := 0
			s := newSimSite(t, func(r simtest.Request) simtest.Reply {
				if r.Workload != checkTCP || r.Serves() {
					return even().Measure(r)
				}
				if connections++; connections%3 == 0 {
					return simtest.Reply{Late: late}
				}
				return even().Measure(r)
			})
			lab := simLab(simPlan())
			lab.Clusters = lab.Clusters[len(lab.Clusters)-1:]
			all, err := Examine(t.Context(), s, lab, Asked{Pair: &Pair{From: lab.Clusters[0].Name + ".h1/c1", To: lab.Clusters[0].Name + ".h1/c2"}})
			if err != nil || len(all) != 1 {
				t.Fatalf("%d examinations: %v", len(all), err)
			}
			failed := slices.ContainsFunc(all[0].Trials, func(t result.Trial) bool { return t.Workload == checkTCP && t.Error != "" })
			labtest.Equal(t, name+": connections fail", failed, name == "lost")
		})
	}
}
