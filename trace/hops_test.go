package trace

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tare/test/labtest"
)

// took is Times of so many visits of so many ns each, at a place on the way.
func took(count int, ns uint32, place int) *Times {
	t := &Times{Count: uint64(count), Sum: uint64(count) * uint64(ns), Order: uint64(count * place)}
	t.Bucket[bucketOf(ns)] = uint32(count)
	return t
}

func stop(point Point, at, device, kind, master string) Stop {
	d := Device{Name: device, Kind: kind, Master: master}
	if master != "" {
		d.MasterKind = "bridge"
	}
	return Stop{point, at, d}
}

// overlay is the way of a request through a vxlan.
func overlay() []Stop {
	return []Stop{
		stop(pointReturn, "h1/c1", "", "", ""),
		stop(pointSend, "h1/c1", "", "", ""),
		stop(pointQueue, "h1/c1", "eth0", "veth", ""),
		stop(pointTransmit, "h1/c1", "eth0", "veth", ""),
		stop(pointArrive, "h1", "veth-c1", "veth", "br0"),
		stop(pointReceive, "h1", "veth-c1", "veth", "br0"),
		stop(pointQueue, "h1", "vxlan0", "vxlan", "br0"),
		stop(pointTransmit, "h1", "vxlan0", "vxlan", "br0"),
		stop(pointQueue, "h1", "eth0", "veth", ""),
		stop(pointTransmit, "h1", "eth0", "veth", ""),
		stop(pointPoll, "h2", "eth0", "veth", ""),
		stop(pointReceive, "h2", "eth0", "veth", ""),
		stop(pointArrive, "h2", "vxlan0", "vxlan", "br0"),
		stop(pointReceive, "h2", "vxlan0", "vxlan", "br0"),
		stop(pointReceive, "h2", "br0", "bridge", ""),
		stop(pointQueue, "h2", "eth1", "macvlan", ""),
		stop(pointTransmit, "h2", "eth1", "macvlan", ""),
		stop(pointQueue, "h2", "eth0", "veth", ""),
		stop(pointTransmit, "h2", "eth0", "veth", ""),
		stop(pointArrive, "h2/c1", "eth0", "veth", ""),
		stop(pointReceive, "h2/c1", "eth0", "veth", ""),
		stop(pointReady, "h2/c1", "", "", ""),
		stop(pointReturn, "h2/c1", "", "", ""),
	}
}

func TestHopsHaveTheirNames(t *testing.T) {
	want := []string{
		"application h1/c1 ", "send h1/c1 eth0", "queue h1/c1 eth0", "veth h1 veth-c1", "backlog h1 veth-c1", "bridge h1 br0",
		"queue h1 vxlan0", "encapsulation h1 vxlan0", "queue h1 eth0", "underlay h2 eth0", "GRO h2 eth0",
		"decapsulation h2 vxlan0", "backlog h2 vxlan0", "bridge h2 br0", "forward h2 eth1", "queue h2 eth1", "macvlan h2 eth1",
		"queue h2 eth0", "veth h2/c1 eth0", "backlog h2/c1 eth0", "receive h2/c1 eth0", "wake-up h2/c1 ",
	}
	way, ways := overlay(), map[wayLeg]*Times{}
	bucket := bucketOf(uint32(100 * len(want)))
	for n := range want {
		ways[wayLeg{bucket, Leg{From: way[n], To: way[n+1]}}] = took(10, 100, n)
	}
	ways[wayLeg{bucket, Leg{To: Stop{Point: pointWhole}}}] = took(10, uint32(100*len(want)), 0)
	hops, whole := Hops(typical(ways))
	var got []string
	share := 0.0
	for _, h := range hops {
		got = append(got, strings.Join([]string{h.Name, h.At, h.Device}, " "))
		share += h.Share
	}
	if !slices.Equal(got, want) {
		t.Errorf("hops\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if math.Abs(share-1) > 1e-9 || whole.Ways != 10 || math.Abs(whole.Sum-whole.Mean) > 1e-12 {
		t.Errorf("shares add up to %v, %+v", share, whole)
	}
}

// Ways that were interrupted are in the quantiles, and not in the means.
func TestMeansAreOfTheMiddle(t *testing.T) {
	ways := map[wayLeg]*Times{}
	from, to := stop(pointReady, "h1", "", "", ""), stop(pointReturn, "h1", "", "", "")
	for ns, count := range map[uint32]int{500: 5, 1000: 80, 1_000_000: 15} {
		bucket := bucketOf(ns)
		ways[wayLeg{bucket, Leg{From: from, To: to}}] = took(count, ns, 1)
		ways[wayLeg{bucket, Leg{To: Stop{Point: pointWhole}}}] = took(count, ns, 0)
	}
	hops, whole := Hops(typical(ways))
	if len(hops) != 1 {
		t.Fatalf("hops %+v, want one", hops)
	}
	labtest.Equal(t, "ways", whole.Ways, 100)
	labtest.Equal(t, "mean of the hop", hops[0].Mean, 1e-6)
	if hops[0].P50 < 0.9e-6 || hops[0].P50 > 1.1e-6 || hops[0].P99 < 0.9e-3 {
		t.Errorf("quantiles %v %v", hops[0].P50, hops[0].P99)
	}
}

// A pass counts by its ways: one whose ways all take as long as the next has more of them near
// the median than one whose ways differ.
func TestPassesCountByTheirWays(t *testing.T) {
	pass := func(counts map[uint32]int) Path {
		ways := map[wayLeg]*Times{}
		for ns, count := range counts {
			leg := Leg{From: stop(pointReady, "h1", "", "", ""), To: stop(pointReturn, "h1", "", "", "")}
			ways[wayLeg{bucketOf(ns), leg}] = took(count, ns, 1)
			ways[wayLeg{bucketOf(ns), Leg{To: Stop{Point: pointWhole}}}] = took(count, ns, 0)
		}
		return typical(ways)
	}
	var both Path
	both.Add(pass(map[uint32]int{1000: 100}))
	both.Add(pass(map[uint32]int{2000: 40, 3000: 20, 4000: 40}))
	hops, whole := Hops(both)
	if len(hops) != 1 || math.Abs(whole.Mean-2e-6) > 1e-12 || math.Abs(whole.Sum-whole.Mean) > 1e-12 {
		t.Errorf("two passes of 1 us and 3 us, with as many ways each: %+v, hops %+v", whole, hops)
	}
}

func TestNothingFollowedHasNoHops(t *testing.T) {
	if hops, whole := Hops(Path{}); len(hops) != 0 || whole != (Whole{}) {
		t.Errorf("%v %v", hops, whole)
	}
}

// Every duration is within the bounds of its bucket, and the buckets are in
// order.
func TestBuckets(t *testing.T) {
	last := -1
	for ns := uint64(1); ns < 1<<32; ns += 1 + ns/50 {
		n := bucketOf(uint32(ns))
		low, high := bounds(n)
		of := fmt.Sprintf("%d ns: ", ns)
		labtest.AtLeast(t, of+"bucket", n, last)
		labtest.LessThan(t, of+"bucket", n, buckets)
		labtest.AtMost(t, of+"low bound", low, float64(ns))
		labtest.MoreThan(t, of+"high bound", high, float64(ns))
		if t.Failed() {
			return
		}
		last = n
	}
}

func TestSymbols(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kallsyms")
	text := "ffffffff81000300 T udp_rcv\nffffffff81000100 t nft_do_chain.isra.0\t[nf_tables]\nffffffff81000200 D data\n0000000000000000 T hidden\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := readSymbols(path)
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[uint64]string{
		0xffffffff81000100: "nft_do_chain", 0xffffffff810002ff: "nft_do_chain", 0xffffffff81000310: "udp_rcv", 0x10: "0x10",
	} {
		if got := s.of(address); got != want {
			t.Errorf("0x%x is in %s, want %s", address, got, want)
		}
	}
	if _, err := readSymbols(path + "no"); err == nil {
		t.Error("a file that is not there has symbols")
	}
}

// The same work has other names on x86 and on arm64.
func TestFunctionsOfBothArchitectures(t *testing.T) {
	for _, c := range []struct{ x86, arm64, kind, layer string }{
		{"copy_from_user", "__arch_copy_from_user", "copy", ""},
		{"memcpy", "__pi_memcpy", "copy", ""},
		{"clear_page_erms", "__pi_clear_page", "copy", ""},
		{"read_tsc", "arch_counter_read", "timer", ""},
		{"read_tsc", "__arch_counter_get_cntvct", "timer", ""},
		{"handle_softirqs", "el0_svc", "lock or interrupts off", ""},
		{"_raw_spin_unlock_irqrestore", "gic_handle_irq", "lock or interrupts off", ""},
		{"__x64_sys_sendto", "__arm64_sys_sendto", code, "socket"},
		{"__x64_sys_recvmsg", "__arm64_sys_recvmsg", code, "socket"},
	} {
		for _, name := range []string{c.x86, c.arm64} {
			labtest.Equal(t, "kind of "+name, Stack{Frames: []string{name}}.kind(), c.kind)
			labtest.Equal(t, "layer of "+name, classOf(name, layers()), c.layer)
		}
	}
}

func TestStacksAreSortedOut(t *testing.T) {
	softirq := []string{"skb_release_data", "br_handle_frame", "__netif_receive_skb", "net_rx_action", "handle_softirqs", "__x64_sys_sendto"}
	p := Profile{Lasted: time.Second, Stacks: concerning([]Stack{
		{Frames: []string{"_copy_from_iter", "udp_sendmsg", "__x64_sys_sendto"}, Lab: true, Ticks: 3},
		{Frames: softirq, Ticks: 2},
		{Lab: true, Ticks: 1},
		{Frames: []string{"default_idle"}, Ticks: 100},
		{Frames: []string{"do_sys_openat2"}, Ticks: 50},
	})}
	use := Use([]Profile{p})
	labtest.Equal(t, "samples", use.Samples, 6)
	labtest.Equal(t, "layers", fmt.Sprint(use.Layers), "[{udp 0.5} {socket 0.3333333333333333} {user code 0.16666666666666666}]")
	labtest.Equal(t, "kinds", fmt.Sprint(use.Kinds), "[{copy 0.5} {code 0.3333333333333333} {user code 0.16666666666666666}]")
	labtest.Equal(t, "contexts", fmt.Sprint(use.Contexts), "[{system calls 0.5} {softirq 0.3333333333333333} {user code 0.16666666666666666}]")
	var folded strings.Builder
	if err := Fold(&folded, "vxlan tcp_rr", []Profile{p}); err != nil {
		t.Fatal(err)
	}
	want := "vxlan tcp_rr;softirq;__x64_sys_sendto;handle_softirqs;net_rx_action;__netif_receive_skb;br_handle_frame;skb_release_data 2\n" +
		"vxlan tcp_rr;system calls;__x64_sys_sendto;udp_sendmsg;_copy_from_iter 3\nvxlan tcp_rr;user code 1\n"
	if folded.String() != want {
		t.Errorf("folded\n%swant\n%s", folded.String(), want)
	}
	if Use(nil) != nil {
		t.Error("nothing has a use of CPUs")
	}
}
