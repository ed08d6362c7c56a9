package kinds_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tare/site"
)

// On twenty hosts a mesh has 190 sessions, two reflectors have 37, and every
// host learns the same routes.
func TestDeepBGPTwentyHosts(t *testing.T) {
	const hosts = 20
	for name, sessions := range map[string]int{"bgp": hosts * (hosts - 1) / 2, "bgp-rr": 2*(hosts-2) + 1} {
		t.Run(name, func(t *testing.T) {
			spec := on(name)
			spec.Hosts, spec.Containers = hosts, 1
			l := build(t, spec)
			t.Logf("%q", built(t, l, name).Notes)
			learned := 0
			for h := 1; h <= hosts; h++ {
				for _, route := range routes(t, l, fmt.Sprintf("h%d", h)) {
					if strings.Contains(route, " via 10.0.0.") && strings.Contains(route, " proto bird") {
						learned++
					}
				}
			}
			// Two clients of the reflectors reach each other without them.
			if got := seenAs(t, l, "h3/c1", "10.120.0.2:99", "h20/c1", "10.120.0.2:99"); got != "10.103.0.2" {
				t.Errorf("h20/c1 sees h3/c1 as %s", got)
			}
			if !slices.Contains(routes(t, l, "h3"), "10.120.0.0/26 via 10.0.0.20 dev eth0 proto bird metric 32 congctl cubic") {
				t.Errorf("h3 reaches h20 by another: %q", routes(t, l, "h3"))
			}
			if learned != hosts*(hosts-1) {
				t.Errorf("%d routes, want %d", learned, hosts*(hosts-1))
			}
			// A second reflector's sessions come after all routes, and have them installed anew.
			if up := established(t, l, hosts); up != 2*sessions {
				t.Errorf("%d ends of sessions are up, want %d", up, 2*sessions)
			}
		})
	}
}

// established counts the ends of sessions that are up.
func established(t *testing.T, l *site.Lab, hosts int) int {
	t.Helper()
	ends := 0
	for h := 1; h <= hosts; h++ {
		text, status, err := exec(t.Context(), l, fmt.Sprintf("h%d", h), "birdc", "-s", "/run/tare/bird.ctl", "show", "protocols")
		if err != nil || status != 0 {
			t.Fatalf("ask BIRD of h%d: status %d, %v", h, status, err)
		}
		ends += strings.Count(text, "Established")
	}
	return ends
}
