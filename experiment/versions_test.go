package experiment

import (
	"slices"
	"testing"
	"time"

	"tare/catalog"
	"tare/result"
	"tare/test/labtest"
)

// TestVersionsOfIP: both multiply the groups; a network without IPv6 is left out where a plan
// has that alone, and measured over IPv4 where it has both.
func TestVersionsOfIP(t *testing.T) {
	plan := func(ip ...any) result.Plan {
		return Complete(result.Plan{
			Networks: result.NetworksNamed("bridge", "podman-rootless"), Paths: []string{catalog.SameHost, catalog.PublishedPort},
			Workloads: []result.WorkloadPlan{{Name: "tcp_rr"}}, Axes: result.PlanAxes{"nic": {"full"}, "ip": ip},
		})
	}
	clusters := func(p result.Plan) (names []string) {
		if err := Check(p); err != nil {
			t.Error(err)
		}
		for _, c := range Spec(p, 2, 2).Clusters {
			names = append(names, c.Name)
		}
		return names
	}
	labtest.Equal(t, "versions of a plan with IPv4", len(plan(4.0).Axes["ip"]), 0)

	four := []string{"host", "host-b", "bridge", "podman-rootless"}
	if got := clusters(plan()); !slices.Equal(got, four) {
		t.Errorf("over IPv4 it has %v", got)
	}
	if got, want := clusters(plan(4.0, 6.0)), []string{"host", "host-b", "bridge", "host-ip6", "host-ip6-b", "bridge-ip6", "podman-rootless"}; !slices.Equal(got, want) {
		t.Errorf("over both it has %v, want %v", got, want)
	}
	labtest.Contains(t, "warning", onIPv4Alone(plan(4.0, 6.0)), "podman-rootless")
	labtest.Equal(t, "warning of IPv4", onIPv4Alone(plan()), "")

	six := plan(6.0)
	if got := clusters(six); !slices.Equal(got, four[:3]) {
		t.Errorf("over IPv6 it has %v", got)
	}
	if len(six.Skipped) != 1 || six.Skipped[0].Name != "podman-rootless" {
		t.Errorf("left out: %+v", six.Skipped)
	}
	for _, spec := range Spec(six, 2, 2).Clusters {
		labtest.Equal(t, "version of "+spec.Name, spec.Axes.Count("ip"), 6)
	}
}

// TestVersionsTakeTurns: groups that differ in the version of IP alone alternate with each other
// in slots, where they can be held against each other; in windows each is by itself.
func TestVersionsTakeTurns(t *testing.T) {
	for design, pieces := range map[string]int{result.DesignSlots: 2, result.DesignWindows: 4} {
		plan := Complete(result.Plan{
			Networks: result.NetworksNamed("bridge", "vxlan"), Paths: []string{catalog.SameHost, catalog.CrossHost},
			Workloads: []result.WorkloadPlan{{Name: "tcp_rr"}}, Axes: result.PlanAxes{"nic": {"full"}, "ip": {4.0, 6.0}}, Design: design,
		})
		s := scheduleOf(plan, groupsOf(plan), time.Time{})
		labtest.Equal(t, "groups in "+design, len(s.Groups), 4)
		leaders, mixed := []int{}, false
		visits := s.All(0)
		for n, v := range visits {
			leaders = append(leaders, s.Groups[v.Group].With)
			mixed = mixed || n > 1 && visits[n-2].Group == v.Group && visits[n-1].Group != v.Group
		}
		labtest.Equal(t, "pieces of a block in "+design, len(slices.Compact(leaders)), pieces)
		labtest.Equal(t, "both versions are mixed in "+design, mixed, design == result.DesignSlots)
	}
}
