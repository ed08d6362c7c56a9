package diagnose

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tare/result"
)

// changes are commands that take a route away, or put another in its place.
var changes = regexp.MustCompile(`ip (?:-6 )?route (?:del|replace|change|flush) (?:blackhole |unreachable |prohibit |throw |local )?([^\s;']+)`)

// TestFixesTakeNoRouteThatTheyDoNotName tries all that can be wrong with one route, at each
// place: what a fix deletes or replaces is named by its cause or evidence, and no other route has it.
// A fix for a host's missing route to a container (projectcalico/calico#8003) took its default route.
func TestFixesTakeNoRouteThatTheyDoNotName(t *testing.T) {
	fixes := 0
	for _, name := range []string{"clean-route", "clean-nat", "clean-vxlan", "wrong-mac"} { // the last is of a bridge
		for n := range captured(t, name).Routes {
			for wrong, change := range wrongRoutes {
				e := captured(t, name)
				damaged := e.Routes[n]
				change(e, n)
				loseAt(e, damaged.At)
				for _, f := range Find(e) {
					fixes += namesItsRoutes(t, e, f, fmt.Sprintf("%s: %s of %s %s", name, wrong, damaged.At, damaged))
				}
			}
		}
	}
	if fixes == 0 {
		t.Error("no fix changes a route")
	}
}

// wrongRoutes are what happens to the nth route.
var wrongRoutes = map[string]func(e *Evidence, n int){
	"loss": func(e *Evidence, n int) { e.Routes = slices.Delete(e.Routes, n, n+1) },
	"a black hole": func(e *Evidence, n int) {
		r := e.Routes[n]
		e.Routes[n] = result.Route{At: r.At, To: r.To, Kind: "blackhole"}
	},
	"a black hole of its net, and loss": func(e *Evidence, n int) {
		r := e.Routes[n]
		e.Routes[n] = result.Route{At: r.At, To: netip.PrefixFrom(r.To.Addr(), r.To.Bits()/2).Masked(), Kind: "unreachable"}
	},
	"a gateway that nobody has": func(e *Evidence, n int) {
		e.Routes[n].Via = netip.MustParseAddr("10.0.77.77")
		set(e, e.Routes[n].At, neighbours, "10.0.77.77 dev "+e.Routes[n].Device, "failed")
	},
	"no gateway": func(e *Evidence, n int) {
		e.Routes[n].Via = netip.Addr{}
		set(e, e.Routes[n].At, neighbours, e.Dial+" dev "+e.Routes[n].Device, "failed")
	},
	"a device of nobody": func(e *Evidence, n int) {
		e.Routes[n].Device, e.Routes[n].Via = "dummy9", netip.Addr{}
		set(e, e.Routes[n].At, links, "dummy9.kind", "dummy")
	},
}

// loseAt lets messages be lost at a place of the path, for the want of a route.
func loseAt(e *Evidence, at string) {
	var sightings []result.Sighting
	for _, place := range e.Places {
		sightings = append(sightings, result.Sighting{At: place, Device: "eth0", Out: place == e.Client})
		if place == at {
			break
		}
	}
	lose(e, sightings...)
	count(e, at, snmp, "Ip.OutNoRoutes", 4)
	for _, end := range []string{e.Client, e.Server} { // as ptp and Calico have containers
		set(e, end, links, "eth0.index", 2.0)
		set(e, end, links, "eth0.peer", 9.0)
		set(e, hostOf(end), links, "veth9.index", 9.0)
		set(e, hostOf(end), links, "veth9.peer", 2.0)
	}
}

// namesItsRoutes counts the routes that a fix changes.
func namesItsRoutes(t *testing.T, e *Evidence, f result.Finding, when string) (changed int) {
	t.Helper()
	if f.Remedy == nil {
		return 0
	}
	says, err := json.Marshal(f.Evidence)
	if err != nil {
		t.Fatal(err)
	}
	text := f.Cause + strings.ReplaceAll(string(says), `\u003e`, ">")
	for _, step := range f.Remedy.Steps() {
		for _, m := range changes.FindAllStringSubmatch(step.Command, -1) {
			to, err := netip.ParsePrefix(m[1])
			if address, single := netip.ParseAddr(m[1]); single == nil {
				to, err = netip.PrefixFrom(address, address.BitLen()), nil
			}
			for _, r := range e.Routes {
				if r.At != step.At || r.Table != 0 || r.Learned || r.To != to && (err == nil || r.To.Bits() != 0) {
					continue
				}
				changed++
				if !strings.Contains(text, r.String()) {
					t.Errorf("%s: %s: %s\n\tchanges %s, which it does not name: %s", when, f.ID, f.Cause, r, step.Command)
				}
			}
		}
	}
	return changed
}
