package network

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"tare/lab"
)

var update = flag.Bool("update", false, "write testdata anew")

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
		count := rapid.IntRange(1, lab.MaxHosts).Draw(t, "hosts")
		hosts := hostsOf(count)
		meshed := rapid.Bool().Draw(t, "mesh")
		peers := reflected
		if meshed {
			peers = mesh
		}
		ends := map[[2]string]peer{}
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
			if meshed && (p.Passive == back.Passive || p.Client || back.Client) || p.Client && back.Client {
				t.Fatalf("%v: %+v and %+v", pair, p, back)
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

// The settings that routers get, as a person would read them.
func TestRouterSettings(t *testing.T) {
	hosts := hostsOf(4)
	for _, c := range []struct {
		file, template string
		host           int
		peers          func(*lab.Host, []*lab.Host) []peer
		tunnel         string
	}{
		{"bird-mesh.conf", birdTemplate, 1, mesh, ""},
		{"bird-reflector.conf", birdTemplate, 0, reflected, ""},
		{"bird-client.conf", birdTemplate, 3, reflected, ""},
		{"bird-tunnel.conf", birdTemplate, 0, mesh, "tunl0"},
		{"bgpd-mesh.conf", bgpdTemplate, 1, mesh, ""},
		{"bgpd-reflector.conf", bgpdTemplate, 0, reflected, ""},
	} {
		h := hosts[c.host]
		s := speaker{Addr: h.Addr, Blocks: firstBlocks(h, 62), Peers: c.peers(h, hosts), Tunnel: c.tunnel}
		got, err := s.settings(c.template)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("testdata", c.file)
		if *update {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Errorf("%s is now\n%s", c.file, got)
		}
	}
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

// What the daemons say of sessions that are not up.
func TestRoutersTellWhatIsDown(t *testing.T) {
	bird := notEstablished(`BIRD 2.0.12 ready.
Name       Proto      Table      State  Since         Info
kernel1    Kernel     master4    up     16:56:10.063
h2         BGP        ---        up     16:56:11.077  Established
h3         BGP        ---        start  17:31:38.289  Passive       Socket: Connection closed
`)
	frr := neighbours(`
BGP router identifier 10.0.0.1, local AS number 64512 vrf-id 0
Peers 1, using 724 KiB of memory

Neighbor        EstdCnt DropCnt ResetTime Reason
10.0.0.2              1       1  00:00:01 Peer closed the session

Displayed neighbors 1
`)
	if len(bird) != 1 || bird[0] != "h3" || len(frr) != 1 || frr[0] != "10.0.0.2" {
		t.Errorf("BIRD: %q, FRR: %q", bird, frr)
	}
}
