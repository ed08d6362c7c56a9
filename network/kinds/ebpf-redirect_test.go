package kinds_test

import (
	"strconv"
	"strings"
	"testing"

	"tare/network/kinds"
	"tare/site"
)

// passesNoStack holds that packets between containers, and from a host to a container of
// another, pass no host's routing: none is counted as forwarded. Without the programs, as in
// ptp, all are.
func passesNoStack(t *testing.T, l *site.Lab) {
	for name, forwards := range map[string]bool{"ebpf-redirect": false, "ptp": true} {
		n, _ := kinds.Find(name)
		for _, path := range n.Paths {
			before := forwarded(t, l, name+".h1") + forwarded(t, l, name+".h2")
			sent := transactions(t, l, built(t, l, name), path, "udp_rr", 64, 100)
			grown := forwarded(t, l, name+".h1") + forwarded(t, l, name+".h2") - before
			if forwards && grown < sent || !forwards && grown > sent/100 {
				t.Errorf("%s on %s: %.0f packets of %.0f transactions were forwarded", name, path, grown, sent)
			}
		}
	}
}

// forwarded is how many packets a host has forwarded (Ip.ForwDatagrams in /proc/net/snmp).
func forwarded(t *testing.T, l *site.Lab, host string) float64 {
	t.Helper()
	printed, status, err := exec(t.Context(), l, host, "/bin/cat", "/proc/net/snmp")
	if err != nil || status != 0 {
		t.Fatalf("read /proc/net/snmp in %s: status %d, %v", host, status, err)
	}
	var names []string
	for line := range strings.Lines(printed) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] != "Ip:" {
			continue
		}
		if names == nil {
			names = words
			continue
		}
		for n, name := range names {
			if name == "ForwDatagrams" {
				count, err := strconv.ParseFloat(words[n], 64)
				if err != nil {
					t.Fatal(err)
				}
				return count
			}
		}
	}
	t.Fatalf("%s does not count what it forwards: %s", host, printed)
	return 0
}
