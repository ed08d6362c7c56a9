package kinds

import (
	"fmt"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"tare/catalog"
	"tare/engine/router"
	"tare/lab"
	"tare/test/labtest"
)

// hostsOf makes so many hosts that exist on paper.
func hostsOf(count int) []*lab.Host {
	var hosts []*lab.Host
	for n := 1; n <= count; n++ {
		hosts = append(hosts, &lab.Host{Short: "h" + strconv.Itoa(n), Number: n, Addr: lab.UnderlayAddr(0, n)})
	}
	return hosts
}

// Both ends of a session know it, exactly one end of a mesh's connects, and a
// reflector's client is none itself.
func TestPeersAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.IntRange(1, catalog.MaxHosts).Draw(t, "hosts")
		hosts := hostsOf(count)
		meshed := rapid.Bool().Draw(t, "mesh")
		peers := reflected
		if meshed {
			peers = mesh
		}
		ends := map[[2]string]router.Peer{}
		for _, h := range hosts {
			for _, p := range peers(h, hosts) {
				ends[[2]string{h.Short, p.Name}] = p
			}
		}
		for pair, p := range ends {
			back, known := ends[[2]string{pair[1], pair[0]}]
			if !known || pair[0] == pair[1] {
				t.Fatalf("%v: only one end knows of the session", pair)
			}
			of := fmt.Sprintf("session of %v: ", pair)
			labtest.Equal(t, of+"clients at both ends", p.Client && back.Client, false)
			if meshed {
				labtest.NotEqual(t, of+"passive", p.Passive, back.Passive)
				labtest.Equal(t, of+"a client in a mesh", p.Client || back.Client, false)
			}
		}
		sessions := count * (count - 1) / 2
		if !meshed && count >= 3 {
			sessions = 1 + 2*(count-2)
		}
		if !meshed && count == 2 {
			sessions = 1
		}
		if len(ends) != 2*sessions {
			t.Fatalf("%d hosts have %d ends of sessions, want %d", count, len(ends), 2*sessions)
		}
	})
}

func TestBlocksHoldTheContainers(t *testing.T) {
	for _, c := range []struct{ containers, blocks int }{{0, 1}, {1, 1}, {62, 1}, {63, 2}, {126, 2}, {127, 3}, {1000, 16}} {
		h := hostsOf(1)[0]
		got := firstBlocks(h, c.containers)
		if len(got) != c.blocks {
			t.Errorf("%d containers: %v, want %d blocks", c.containers, got, c.blocks)
		}
		for n := range c.containers + 1 {
			held := 0
			for _, block := range got {
				if block.Contains(h.ContainerAddr(n)) {
					held++
				}
			}
			if held != 1 {
				t.Errorf("%s is in %d of the blocks %v", h.ContainerAddr(n), held, got)
			}
		}
	}
}
