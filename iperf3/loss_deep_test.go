package iperf3

import (
	"fmt"
	"net/netip"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// dropTenth makes this namespace drop every tenth datagram of data to or from
// a port, exactly.
func dropTenth(t *testing.T, port uint16) {
	t.Helper()
	rules := fmt.Sprintf(`table inet loss%d { chain in { type filter hook input priority 0;
		udp length > 100 th dport %d numgen inc mod 10 == 9 drop
		udp length > 100 th sport %d numgen inc mod 10 == 9 drop
		}
	}
`, port, port, port)
	nft := exec.Command("nft", "-f", "-")
	nft.Stdin = strings.NewReader(rules)
	if out, err := nft.CombinedOutput(); err != nil {
		t.Fatalf("nft: %v: %s; apt-get install nftables", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("nft", "delete", "table", "inet", fmt.Sprintf("loss%d", port)).CombinedOutput(); err != nil {
			t.Errorf("nft: %v: %s", err, out)
		}
	})
}

// tenth wants a tenth lost, and no more beyond it than a socket that overflows
// on a busy machine explains.
func tenth(t *testing.T, lost, sent int64) {
	t.Helper()
	if sent < 100 || lost < sent/10-1 || lost > sent/5 {
		t.Errorf("lost %d of %d where every tenth was dropped", lost, sent)
	}
}

func TestDeepClientSeesTheLossOnThePath(t *testing.T) {
	for name, reverse := range map[string][]string{"forward": nil, "reverse": {"-R"}, "omit": {"-O", "1"}} {
		t.Run(name, func(t *testing.T) {
			at, log := ourServer(t, loopback)
			dropTenth(t, at.Port())
			r := realClient(t, at, append([]string{"-u", "-t", "1", "-b", "4M", "-l", "1000"}, reverse...)...)
			tenth(t, r.End.Sum.Lost, r.End.Sum.Packets)
			if len(reverse) != 1 {
				log.await(t, fmt.Sprintf("lost %d of ", r.End.Sum.Lost))
			}
		})
	}
}

func TestDeepOurClientSeesTheLossOnThePath(t *testing.T) {
	for name, test := range map[string]Test{
		"forward": {}, "reverse": {Reverse: true}, "omit": {Omit: time.Second}, "omit reverse": {Omit: time.Second, Reverse: true},
	} {
		t.Run(name, func(t *testing.T) {
			test.UDP, test.Rate, test.Size, test.Duration = true, 4e6, 1000, 600*time.Millisecond
			for server, start := range map[string]func() netip.AddrPort{
				"real": func() netip.AddrPort { at, _ := realServer(t); return at },
				"ours": func() netip.AddrPort { at, _ := ourServer(t, loopback); return at },
			} {
				at := start()
				dropTenth(t, at.Port())
				out, err := Run(t.Context(), at, test)
				if err != nil {
					t.Fatal(server, err)
				}
				f := out.Flows[0]
				tenth(t, f.Lost, f.Datagrams)
				if want := server == "real" && name == "omit"; f.AllTime != want || want != (len(out.Warnings) > 0) && want {
					t.Errorf("%s: loss of all time: %t, want %t; warnings %q", server, f.AllTime, want, out.Warnings)
				}
			}
		})
	}
}
