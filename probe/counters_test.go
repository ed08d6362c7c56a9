package probe

import (
	"maps"
	"strings"
	"testing"
)

// count reads a probe's counters below a root.
func count(t *testing.T, p Probe, root string) map[string]float64 {
	t.Helper()
	got, err := p.count(newView(root))
	if err != nil {
		t.Fatalf("%s: %v", p.Name, err)
	}
	return got
}

// The captured machine has two CPUs; the second dropped 805 packets of a full
// backlog.
func TestCapturedCounters(t *testing.T) {
	has(t, count(t, softnet(), vm), map[string]float64{
		"cpu0.processed": 0x01c7c074, "cpu0.squeezed": 10, "cpu0.received_rps": 0x2ba8ef, "cpu1.dropped": 805, "cpu1.flow_limited": 0,
	})
	has(t, count(t, softirqs(), vm), map[string]float64{"cpu0.NET_RX": 23016760, "cpu1.NET_TX": 25006, "cpu1.HI": 0})
	has(t, count(t, neighbourCache(), vm), map[string]float64{"res_failed": 1, "unresolved_discards": 0x2d05 + 0x26e3, "table_fulls": 0})
	has(t, count(t, conntrack(), vm), map[string]float64{"insert_failed": 0, "drop": 0, "early_drop": 0, "invalid": 0})
	has(t, count(t, schedstat(), vm), map[string]float64{"run_time": 0.005962221, "run_delay": 0.004594624, "timeslices": 12})
	has(t, count(t, sched(), vm), map[string]float64{"migrations": 0, "voluntary_switches": 10, "involuntary_switches": 3})
	has(t, count(t, cgroupCPU(), vm), map[string]float64{"periods": 0, "throttled": 0, "throttled_time": 0})
	has(t, count(t, snmp6(), vm), map[string]float64{"Ip6InReceives": 41, "Ip6OutNoRoutes": 3})
	if waited := count(t, pressure(), vm); waited["io.some"] < waited["io.full"] || waited["io.full"] <= 0 || waited["cpu.some"] <= 0 {
		t.Errorf("pressure %v", waited)
	}
	if times := count(t, cpuTimes(), vm); times["cpu0.busy"] <= 0 || times["cpu1.idle"] <= 0 || len(times) != 8 {
		t.Errorf("CPU times %v", times)
	}
	if counted := count(t, snmp(), vm); counted["Udp.InDatagrams"] != 91 {
		t.Errorf("protocol counters %v", counted)
	} else if _, has := counted["Udp.RcvbufErrors"]; has {
		t.Error("a zero is kept")
	}
}

func TestParseSoftnet(t *testing.T) {
	old := "00000001 00000002 00000003 00000000 00000000 00000000 00000000 00000000 00000000 00000004\n"
	got, err := parseSoftnet([]byte(old + old))
	if err != nil {
		t.Fatal(err)
	}
	has(t, got, map[string]float64{"cpu0.processed": 1, "cpu0.dropped": 2, "cpu0.squeezed": 3, "cpu1.received_rps": 4})
	gap := "1 0 0 0 0 0 0 0 0 0 0 0 7\n" // CPU 7 is the first that is online
	if got, err := parseSoftnet([]byte(gap)); err != nil || got["cpu7.processed"] != 1 {
		t.Errorf("%v, %v", got, err)
	}
	for _, text := range []string{"", "1 2\n", "x 0 0\n", "\n", "100000000 0 0\n"} {
		if got, err := parseSoftnet([]byte(text)); err == nil {
			t.Errorf("%q gave %v", text, got)
		}
	}
}

func FuzzParseSoftnet(f *testing.F) {
	captured(f, "proc/net/softnet_stat")
	f.Fuzz(func(t *testing.T, data []byte) {
		if counters, err := parseSoftnet(data); err == nil && len(counters) == 0 {
			t.Fatal("no counter and no error")
		}
	})
}

func TestParseSNMP6(t *testing.T) {
	if got, err := parseSNMP6([]byte("Ip6InAddrErrors  \t7\nIp6InReceives 0\n")); err != nil || len(got) != 1 || got["Ip6InAddrErrors"] != 7 {
		t.Errorf("%v, %v, want the one that is not 0", got, err)
	}
	for _, text := range []string{"Ip6InReceives\n", "Ip6InReceives x\n", "\n", "a 1 2\n"} {
		if got, err := parseSNMP6([]byte(text)); err == nil {
			t.Errorf("%q gave %v", text, got)
		}
	}
}

func FuzzParseSNMP6(f *testing.F) {
	captured(f, "proc/thread-self/net/snmp6")
	f.Fuzz(func(t *testing.T, data []byte) {
		if counters, err := parseSNMP6(data); err == nil && counters == nil {
			t.Fatal("no counters and no error")
		}
	})
}

func TestParseSoftirqs(t *testing.T) {
	for _, text := range []string{"", "CPU0 CPU1\nHI: 1\n", "CPU0\nHI: x\n", "CPU0\nHI: -1\n", "CPU0\n\n"} {
		if got, err := parseSoftirqs([]byte(text)); err == nil {
			t.Errorf("%q gave %v", text, got)
		}
	}
}

func FuzzParseSoftirqs(f *testing.F) {
	captured(f, "proc/softirqs")
	f.Fuzz(func(t *testing.T, data []byte) {
		counters, err := parseSoftirqs(data)
		for name, value := range counters {
			if err == nil && (!strings.Contains(name, ".") || value < 0) {
				t.Fatalf("%q is %v", name, value)
			}
		}
	})
}

func TestParseStatTable(t *testing.T) {
	got, err := parseStatTable([]byte("entries a b\n9 1 f\n9 2 1\n"))
	if want := map[string]float64{"a": 3, "b": 16}; err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	for _, text := range []string{"", "\n", "a b\n1\n", "a\nx\n"} {
		if got, err := parseStatTable([]byte(text)); err == nil {
			t.Errorf("%q gave %v", text, got)
		}
	}
}

func FuzzParseStatTable(f *testing.F) {
	captured(f, "proc/net/stat/arp_cache")
	captured(f, "proc/thread-self/net/stat/nf_conntrack")
	f.Fuzz(func(t *testing.T, data []byte) {
		if counters, err := parseStatTable(data); err == nil && counters == nil {
			t.Fatal("no table and no error")
		}
	})
}

func TestParseSched(t *testing.T) {
	for _, text := range []string{"", "1 2\n", "1 2 3 4\n", "1 -2 3\n"} {
		if got, err := parseSchedstat([]byte(text)); err == nil {
			t.Errorf("%q gave %v", text, got)
		}
	}
	for _, text := range []string{"", "se.vruntime : 1\n", "se.nr_migrations : x\n"} {
		if got, err := parseSched([]byte(text)); err == nil {
			t.Errorf("%q gave %v", text, got)
		}
	}
}

func FuzzParseSched(f *testing.F) {
	captured(f, "proc/self/task/1/sched")
	captured(f, "proc/self/task/1/schedstat")
	f.Fuzz(func(t *testing.T, data []byte) {
		counters, err := parseSched(data)
		if err == nil && len(counters) == 0 {
			t.Fatal("no counter and no error")
		}
		times, err := parseSchedstat(data)
		if err == nil && (times["run_time"] < 0 || times["run_delay"] < 0) {
			t.Fatalf("%v", times)
		}
	})
}

// A group's account is that of every group above it too, in either version.
func TestCgroupThrottling(t *testing.T) {
	version1 := tree(t, map[string]string{
		"proc/self/cgroup":                          "4:memory:/x\n2:cpu,cpuacct:/pod/c1\n",
		"sys/fs/cgroup/cpu/pod/c1/cpu.stat":         "nr_periods 20\nnr_throttled 19\nthrottled_time 1500000000\n",
		"sys/fs/cgroup/cpu/pod/cpu.stat":            "nr_periods 20\nnr_throttled 1\nthrottled_time 500000000\n",
		"sys/fs/cgroup/cpu/cpu.stat":                "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n",
		"sys/fs/cgroup/cpu,cpuacct/pod/c1/cpu.stat": "nr_periods 20\nnr_throttled 19\nthrottled_time 1500000000\n",
	})
	version2 := tree(t, map[string]string{
		"proc/self/cgroup":                "0::/pod/c1\n",
		"sys/fs/cgroup/pod/c1/cpu.stat":   "usage_usec 7\nnr_periods 40\nnr_throttled 20\nthrottled_usec 2000000\nnr_bursts 0\n",
		"sys/fs/cgroup/cpu.stat":          "usage_usec 7\n",
		"sys/fs/cgroup/elsewhere/ignored": "",
	})
	for name, root := range map[string]string{"version 1": version1, "version 2": version2} {
		got := count(t, cgroupCPU(), root)
		if want := map[string]float64{"periods": 40, "throttled": 20, "throttled_time": 2}; !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	elsewhere := tree(t, map[string]string{"proc/self/cgroup": "0::/pod\n"})
	if got, err := cgroupCPU().count(newView(elsewhere)); err == nil {
		t.Errorf("without an account: %v", got)
	}
}

func FuzzParseCPUStat(f *testing.F) {
	captured(f, "sys/fs/cgroup/cpu/cpu.stat")
	f.Add([]byte("nr_throttled 1\nthrottled_usec 5\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		counters, err := parseCPUStat(data)
		for name, value := range counters {
			if err == nil && value < 0 {
				t.Fatalf("%s is %v", name, value)
			}
		}
		cpuStatFiles(data)
	})
}
