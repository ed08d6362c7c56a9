package probe

import (
	"os"
	"slices"
	"strings"
	"testing"

	"tare/result"
	"tare/test/labtest"
)

// What changed between two reads is reported by source; what did not, and a source
// that is not there, is not. What is not there is named once.
func TestSinceReportsWhatChanged(t *testing.T) {
	machine := func(squeezed, netRx string) string {
		return tree(t, map[string]string{
			"proc/net/softnet_stat": "00000001 00000000 " + squeezed + "\n",
			"proc/softirqs":         "      CPU0\n NET_RX: " + netRx + "\n  TIMER: 5\n",
		})
	}
	before := Read(machine("00000001", "10"), Machine)
	readings, unread := Read(machine("0000000b", "10"), Machine).Since(before)
	if len(readings) != 1 {
		t.Fatalf("readings %+v, want one", readings)
	}
	labtest.Equal(t, "source", readings[0].Source, "/proc/net/softnet_stat")
	labtest.Equal(t, "number of counts", len(readings[0].Counts), 1)
	labtest.Equal(t, "cpu0.squeezed", readings[0].Counts["cpu0.squeezed"], 10)
	var named []string
	for _, u := range unread {
		named = append(named, u.Source)
		if u.Reason != "this kernel does not have it, or has not loaded it" {
			t.Errorf("%+v", u)
		}
	}
	if want := "/proc/stat /proc/pressure /proc/net/stat/arp_cache /proc/net/stat/ndisc_cache"; strings.Join(named, " ") != want {
		t.Errorf("named %s, want %s", named, want)
	}
}

// A counter of 32 bits begins again: the busiest do within the hour.
func TestSinceFollowsACounterThatBeginsAgain(t *testing.T) {
	at := func(processed string) Counts {
		return Read(tree(t, map[string]string{"proc/net/softnet_stat": processed + " 0 0\n"}), Machine)
	}
	readings, _ := at("00000005").Since(at("fffffffb"))
	if len(readings) != 1 || readings[0].Counts["cpu0.processed"] != 10 {
		t.Errorf("readings %+v", readings)
	}
}

func TestRefusedSourceSaysWhatHelps(t *testing.T) {
	refused := &os.PathError{Op: "open", Path: "/proc/self/sched", Err: os.ErrPermission}
	if got := reason(refused); !strings.Contains(got, "run as root") {
		t.Errorf("%q", got)
	}
}

// Every probe either counts or looks, and names where a person sees the same.
func TestProbesAreWhole(t *testing.T) {
	var names, counts []string
	for _, p := range All() {
		labtest.NotEqual(t, "name of a probe", p.Name, "")
		labtest.NotEqual(t, p.Name+": doc", p.Doc, "")
		labtest.NotEqual(t, p.Name+": source", p.Source, "")
		labtest.Equal(t, p.Name+": looks, as it does not count", p.look != nil, p.count == nil)
		labtest.Equal(t, p.Name+": named before", slices.Contains(names, p.Name), false)
		if p.count != nil && slices.Contains(counts, p.Source) {
			t.Errorf("%s counts from the source of another", p.Name)
		}
		names = append(names, p.Name)
		if p.count != nil {
			counts = append(counts, p.Source)
		}
	}
}

func TestCapturedStates(t *testing.T) {
	values := func(p Probe) map[string]any {
		got, err := p.look(newView(vm))
		if err != nil {
			t.Fatalf("%s: %v", p.Name, err)
		}
		return got
	}
	has(t, values(sysctls()), map[string]any{
		"ipv4/ip_forward": int64(0), "ipv4/tcp_rmem": "4096 131072 33554432", "ipv4/conf/eth0/rp_filter": int64(0),
		"bridge/bridge-nf-call-iptables": int64(1), "ipv4/tcp_congestion_control": "bbr",
	})
	has(t, values(neighbourLimits()), map[string]any{"gc_thresh3": int64(1024)})
	has(t, values(conntrackTable()), map[string]any{"nf_conntrack_max": int64(262144), "nf_conntrack_count": int64(0)})
	has(t, values(steering()), map[string]any{"eth0.rx-0.rps_cpus": "0", "eth0.tx-0.xps_cpus": "3"})
	if got := values(legacyTables()); len(got) != 0 {
		t.Errorf("legacy tables %v", got)
	}
	old := tree(t, map[string]string{"proc/thread-self/net/ip_tables_names": "nat\nfilter\n"})
	if got, err := legacyTables().look(newView(old)); err != nil || len(got) != 2 || got["nat"] != true {
		t.Errorf("legacy tables %v, %v", got, err)
	}
	states, unread := Look(t.TempDir(), Machine)
	absent := "this kernel does not have it, or has not loaded it"
	if len(states) != 0 || !slices.Equal(unread, []result.Unread{{Source: "/proc/sys/net/ipv4/neigh/default", Reason: absent}, {Source: "/proc/sys/net/ipv6/neigh/default", Reason: absent}}) {
		t.Errorf("of an empty root: %v, %v", states, unread)
	}
}

// BenchmarkAround reads each scope before and after a run, as is done around
// every window; of a process it is the reader that is made for the run.
func BenchmarkAround(b *testing.B) {
	for _, scope := range []Scope{Machine, Namespace, Process} {
		b.Run(string(scope), func(b *testing.B) {
			kept := NewReader("/", scope)
			for b.Loop() {
				r := kept
				if scope == Process {
					r = NewReader("/", scope)
				}
				before := r.Read()
				r.Read().Since(before)
				if scope == Process {
					r.Close()
				}
			}
			kept.Close()
		})
	}
}
