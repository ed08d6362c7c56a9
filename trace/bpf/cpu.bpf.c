/* Counts where the CPUs are, stack by stack, at every tick of a clock. */
#include "kernel.h"

enum { MOST_FRAMES = 127 }; /* PERF_MAX_STACK_DEPTH, linux/perf_event.h */

struct place {
	__s32 stack; /* below 0: not in the kernel */
	__u32 lab;   /* 1: of a process in the lab */
};

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 16384);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, MOST_FRAMES * sizeof(__u64));
} stacks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, struct place);
	__type(value, __u64);
} places SEC(".maps");

/* networks holds the inodes of the lab's network namespaces. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, __u8);
} networks SEC(".maps");

__u32 on = 0;

SEC("perf_event")
int tick(void *ctx)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct place p = {};
	__u64 one = 1, *n;
	__u32 network = 0;
	struct nsproxy *proxy = 0;
	struct net *net = 0;

	if (!on)
		return 0;
	p.stack = bpf_get_stackid(ctx, &stacks, 0);
	bpf_probe_read_kernel(&proxy, sizeof(proxy), __builtin_preserve_access_index(&task->nsproxy));
	bpf_probe_read_kernel(&net, sizeof(net), __builtin_preserve_access_index(&proxy->net_ns));
	bpf_probe_read_kernel(&network, sizeof(network), __builtin_preserve_access_index(&net->ns.inum));
	p.lab = bpf_map_lookup_elem(&networks, &network) != 0;
	n = bpf_map_lookup_elem(&places, &p);
	if (n)
		__sync_fetch_and_add(n, 1);
	else
		bpf_map_update_elem(&places, &p, &one, BPF_NOEXIST);
	return 0;
}
