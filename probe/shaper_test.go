package probe

import (
	"slices"
	"testing"
)

// A bucket of 10 Mbit/s with a burst that lasts for minutes (kubernetes#90838), and an HTB whose
// class of 80 Mbit/s all went through.
func TestShapersHaveRates(t *testing.T) {
	names := map[uint32]string{1: "lo", 2: "eth1", 3: "eth0", 4: "eth3", 5: "eth2"}
	got, classful := parseShapers(netlink(t, "shapers"), names)
	has(t, got, map[string]any{"eth1.tbf.rate": 10e6})
	if burst, _ := got["eth1.tbf.burst"].(float64); burst < 0.99*(256<<20) || burst > 1.01*(256<<20) {
		t.Errorf("a burst of %.0f bytes, want 256 MiB", burst)
	}
	if !slices.Equal(classful, []uint32{3}) {
		t.Fatalf("classes are looked for at %v, want eth0", classful)
	}
	parseClasses(netlink(t, "classes"), names, got)
	has(t, got, map[string]any{"eth0.htb.rate": 80e6, "eth0.htb.direct": 5.0})
	if len(got) != 4 {
		t.Errorf("%v, want nothing of devices without a rate", got)
	}
}

func FuzzParseShapers(f *testing.F) {
	f.Add(netlink(f, "shapers"), netlink(f, "classes"))
	f.Fuzz(func(t *testing.T, qdiscs, classes []byte) {
		values, _ := parseShapers(qdiscs, map[uint32]string{2: "eth1", 3: "eth0"})
		parseClasses(classes, map[uint32]string{2: "eth1", 3: "eth0"}, values)
		for name, value := range values {
			if n, is := value.(float64); !is || n < 0 {
				t.Fatalf("%s is %v", name, value)
			}
		}
	})
}
