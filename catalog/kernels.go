package catalog

import (
	"cmp"
	"fmt"
)

// KernelChange is what a version of Linux changed that moves a result.
type KernelChange struct {
	Since       [2]int // 6, 18
	Before, Now string
}

// Name is "since Linux 6.18".
func (c KernelChange) Name() string { return fmt.Sprintf("since Linux %d.%d", c.Since[0], c.Since[1]) }

// kernelChanges are in order. Sources: the pull requests of netdev of these versions.
func kernelChanges() []KernelChange {
	return []KernelChange{
		{[2]int{6, 16}, "a full ring of veth drops packets", "it stops the queueing discipline, where veth has one"},
		{[2]int{6, 17}, "virtio-net segments no tunnels", "it segments UDP tunnels, where the hypervisor does too"},
		{[2]int{6, 18}, "rmem_max and wmem_max are 212992 bytes", "4194304 bytes; the defaults of a socket are as before"},
		{[2]int{6, 19}, "senders wait for the lock of a queueing discipline", "they don't, and what is beyond net.core.qdisc_max_burst is dropped, where tc -s counts nothing"},
		{[2]int{7, 0}, "ECN of TCP says that there was congestion", "AccECN (net.ipv4.tcp_ecn) says how much"},
	}
}

// KernelChanges are those that a release ("6.18.3-amd64") has and an older one has not; nil where it is not newer, or
// one can't be read.
func KernelChanges(older, newer string) (between []KernelChange) {
	from, ok := release(older)
	to, both := release(newer)
	for _, c := range kernelChanges() {
		if ok && both && before(from, c.Since) && !before(to, c.Since) {
			between = append(between, c)
		}
	}
	return between
}

func release(text string) (version [2]int, ok bool) {
	n, _ := fmt.Sscanf(text, "%d.%d", &version[0], &version[1]) // the count says it
	return version, n == 2
}

func before(a, b [2]int) bool { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) < 0 }
