package router

import (
	"flag"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tare/test/labtest"
)

var update = flag.Bool("update", false, "write testdata again")

// speaker is one of four hosts, h1 to h4, of which 0 is the first. It announces
// one block; reflectors are h1 and h2.
func speaker(host int, reflected bool) Speaker {
	s := Speaker{
		Addr:   netip.AddrFrom4([4]byte{10, 0, 0, byte(host + 1)}),
		Blocks: []netip.Prefix{netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(101 + host), 0, 0}), 26)},
	}
	for n, name := range []string{"h1", "h2", "h3", "h4"} {
		p := Peer{Name: name, Addr: netip.AddrFrom4([4]byte{10, 0, 0, byte(n + 1)})}
		switch {
		case n == host, reflected && n > 1 && host > 1:
			continue
		case reflected:
			p.Client = host <= 1 && n > 1
		default:
			p.Passive = n > host
		}
		s.Peers = append(s.Peers, p)
	}
	return s
}

// The daemons' configurations, as a person would read them.
func TestSettings(t *testing.T) {
	tunnel := speaker(0, false)
	tunnel.Tunnel = "tunl0"
	both := speaker(0, true)
	both.IPv6 = true
	for file, c := range map[string]struct {
		template string
		speaker  Speaker
	}{
		"bird-mesh.conf":      {birdTemplate, speaker(1, false)},
		"bird-reflector.conf": {birdTemplate, speaker(0, true)},
		"bird-client.conf":    {birdTemplate, speaker(3, true)},
		"bird-tunnel.conf":    {birdTemplate, tunnel},
		"bgpd-mesh.conf":      {bgpdTemplate, speaker(1, false)},
		"bgpd-reflector.conf": {bgpdTemplate, speaker(0, true)},
		"bird-ipv6.conf":      {birdTemplate, both},
		"bgpd-ipv6.conf":      {bgpdTemplate, both},
	} {
		got, err := c.speaker.fill(c.template)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", file)
		if *update {
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Errorf("%s is now\n%s", file, got)
		}
	}
}

// What the daemons print about sessions that are not up.
func TestDown(t *testing.T) {
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
	labtest.Equal(t, "BIRD's sessions that are not up", strings.Join(bird, " "), "h3")
	labtest.Equal(t, "FRR's sessions that are not up", strings.Join(frr, " "), "10.0.0.2")
}
