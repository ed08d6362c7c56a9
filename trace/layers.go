package trace

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"tare/result"
)

// class is a name for functions that begin alike.
type class struct {
	name     string
	prefixes []string
}

// layers are looked for in a stack from its innermost function outwards: the
// first that is found has the tick.
func layers() []class {
	return []class{
		{"vxlan", []string{"vxlan_", "udp_tunnel", "gro_cell", "iptunnel_", "geneve_", "ip_tunnel", "ipgre_", "gre_"}},
		{"openvswitch", []string{"ovs_"}},
		{"bridge", []string{"br_", "__br_", "fdb_", "nbp_"}},
		{"conntrack", []string{"nf_conntrack", "nf_ct_", "nf_nat", "__nf_conntrack", "tcp_packet"}},
		{"netfilter", []string{"nf_", "nft_", "ipt_", "ip_tables", "__nft", "xt_"}},
		{"veth", []string{"veth_"}},
		{"netkit", []string{"netkit_"}},
		{"loopback", []string{"loopback_"}},
		{"macvlan", []string{"macvlan_", "ipvlan_"}},
		{"tun", []string{"tun_"}},
		{"qdisc", []string{"__dev_queue_xmit", "sch_", "dev_hard_start_xmit", "__qdisc", "pfifo", "tbf_", "validate_xmit"}},
		{"receive", []string{"net_rx_action", "process_backlog", "__netif_receive", "netif_receive", "netif_rx", "napi_", "__napi", "enqueue_to_backlog", "dev_gro_receive", "inet_gro"}},
		{"udp", []string{"udp_", "__udp", "udp4_"}},
		{"tcp", []string{"tcp_", "__tcp", "tcp4_"}},
		{"ip", []string{"ip_", "__ip_", "fib_", "neigh_", "arp_", "inet_", "icmp_", "rt_"}},
		{"socket", []string{"sock_", "__sock", "skb_", "__skb", "__alloc_skb", "kfree_skb", "consume_skb", "__sys_send", "__sys_recv", "____sys", "___sys", "sys_send", "sys_recv", "sk_", "datagram"}},
		{"scheduler", []string{"schedule", "__schedule", "try_to_wake", "wake_up", "__wake_up", "finish_task", "pick_", "enqueue_task", "dequeue", "ttwu", "futex", "hrtimer", "tick_", "do_futex"}},
	}
}

// kinds are those of the innermost function alone.
func kinds() []class {
	return []class{
		{"copy", []string{"copy_", "_copy", "__copy", "rep_movs", "memcpy", "__memcpy", "memmove", "csum_and_copy", "clear_page", "memset", "__memset"}},
		{"checksum", []string{"csum_", "do_csum", "__csum", "skb_checksum", "__skb_checksum"}},
		{result.KindLockWait, []string{"native_queued_spin_lock_slowpath", "__pv_queued_spin_lock_slowpath", "queued_spin_lock_slowpath", "queued_read_lock_slowpath", "queued_write_lock_slowpath", "mutex_spin_on_owner", "osq_lock", "rwsem_spin_on_owner"}},
		// The clock is no NMI: what runs with interrupts off is found where they
		// are allowed again.
		{"lock or interrupts off", []string{"_raw_spin", "_raw_read", "_raw_write", "native_queued", "queued_spin", "__local_bh", "mutex_", "handle_softirqs", "__do_softirq", "finish_task_switch", "do_softirq", "el0_svc", "gic_"}},
		{"allocation", []string{"kmem_", "kmalloc", "__kmalloc", "kfree", "__alloc", "alloc_", "free_", "__free", "page_frag", "__slab", "___slab", "slab_", "get_page", "rmqueue"}},
		{"scheduling", []string{"schedule", "__schedule", "try_to_wake", "ttwu", "pick_", "enqueue_", "dequeue_", "update_", "set_next", "put_prev", "select_task", "__wake_up", "switch_", "__switch", "reweight"}},
		{"timer", []string{"ktime_", "hrtimer", "clockevents", "read_tsc", "tick_", "kvm_clock", "pvclock", "timekeeping", "arch_counter", "counter_get", "arch_timer"}},
	}
}

// The contexts.
const (
	contextUser    = "user code"
	contextProcess = "system calls"
	contextSoftirq = "softirq"
)

// code is the kind of what has no other.
const code = "code"

// softirqFrames are on the stack of the network's softirqs.
var softirqFrames = []string{"net_rx_action", "net_tx_action"}

// concerns reports whether a tick is the lab's: its processes', or the network's
// softirqs, which run on whatever process they interrupt.
func (s Stack) concerns() bool {
	return s.Lab || s.softirq()
}

// concerning are those stacks that concern the lab.
func concerning(all []Stack) []Stack {
	return slices.DeleteFunc(all, func(s Stack) bool { return !s.concerns() })
}

func (s Stack) softirq() bool {
	return slices.ContainsFunc(s.Frames, func(f string) bool { return slices.Contains(softirqFrames, f) })
}

func (s Stack) context() string {
	switch {
	case len(s.Frames) == 0:
		return contextUser
	case s.softirq():
		return contextSoftirq
	}
	return contextProcess
}

func (s Stack) layer() string {
	if len(s.Frames) == 0 {
		return contextUser
	}
	for _, frame := range s.Frames {
		if name := classOf(frame, layers()); name != "" {
			return name
		}
	}
	return hopOther
}

func (s Stack) kind() string {
	if len(s.Frames) == 0 {
		return contextUser
	}
	if name := classOf(s.Frames[0], kinds()); name != "" {
		return name
	}
	return code
}

// ofArchitecture are what the names of functions begin with that each architecture has a version of:
// entries of system calls, what is written in assembly, and aliases that run at any address.
var ofArchitecture = []string{"__x64_", "__arm64_", "__arch_", "__pi_"}

func classOf(function string, classes []class) string {
	for _, prefix := range ofArchitecture {
		function = strings.TrimPrefix(function, prefix)
	}
	for _, c := range classes {
		for _, prefix := range c.prefixes {
			if strings.HasPrefix(function, prefix) {
				return c.name
			}
		}
	}
	return ""
}

// Use shares the ticks of profiles out. nil: none was the lab's.
func Use(profiles []Profile) *result.CPUUse {
	var ticks uint64
	var seconds float64
	byLayer, byKind, byContext := map[string]uint64{}, map[string]uint64{}, map[string]uint64{}
	for _, p := range profiles {
		seconds += p.Lasted.Seconds()
		for _, s := range p.Stacks {
			ticks += s.Ticks
			byLayer[s.layer()] += s.Ticks
			byKind[s.kind()] += s.Ticks
			byContext[s.context()] += s.Ticks
		}
	}
	if ticks == 0 {
		return nil
	}
	return &result.CPUUse{
		Samples: ticks, CPUs: float64(ticks) / clockRate / seconds,
		Layers: shares(byLayer, ticks), Kinds: shares(byKind, ticks), Contexts: shares(byContext, ticks),
	}
}

// shares are sorted, the largest first.
func shares(ticks map[string]uint64, all uint64) []result.Share {
	list := []result.Share{}
	for name, n := range ticks {
		list = append(list, result.Share{Name: name, Share: float64(n) / float64(all)})
	}
	slices.SortFunc(list, func(a, b result.Share) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// Fold writes profiles as folded stacks, a line each: the label, the context
// and the functions from the outermost on, then the ticks. Flame graphs are
// drawn from it.
func Fold(w io.Writer, label string, profiles []Profile) error {
	ticks := map[string]uint64{}
	for _, p := range profiles {
		for _, s := range p.Stacks {
			frames := slices.Clone(s.Frames)
			slices.Reverse(frames)
			ticks[strings.Join(slices.Concat([]string{label, s.context()}, frames), ";")] += s.Ticks
		}
	}
	lines := make([]string, 0, len(ticks))
	for stack, n := range ticks {
		lines = append(lines, fmt.Sprintf("%s %d\n", stack, n))
	}
	slices.Sort(lines)
	_, err := io.WriteString(w, strings.Join(lines, ""))
	return err
}
