/* Follows the workload's packets from the system call that sends them to the
 * one that receives them, and counts those that are lost.
 *
 * A packet is known by the address of its sk_buff, which stays the same through
 * every device of one kernel. At each point of its way the time since the last
 * one is noted. Where requests are answered, the notes pass to the answer. When
 * a way has ended, its notes are added to the histograms of each hop, by how
 * long the whole way took: so the hops of ordinary ways can be distinguished
 * from those of the few that were interrupted. Nothing leaves the kernel but
 * sums and histograms. */
#include "packet.h"

/* Points of a packet's way, in trace/path.go as well. */
enum point {
	SEND = 1,    /* the system call that sends it begins */
	QUEUE = 2,   /* it is given to a device's queueing discipline */
	TRANSMIT = 3,/* the device takes it */
	ARRIVE = 4,  /* it waits in a CPU's backlog */
	POLL = 5,    /* the receiving device is polled, GRO begins */
	RECEIVE = 6, /* the protocols above the device get it */
	READY = 7,   /* its data is in the socket, the reader is woken */
	RETURN = 8,  /* the system call that receives it has its data */
	WHOLE = 9,   /* from the first point to the last */
};

enum { MOST_STEPS = 64, BUCKETS = 216 };

/* One way in so many is added up, since that takes as long as several hops;
 * what it delays is the reader, after its RETURN. */
enum { SETTLED = 8 };

/* LONGEST is what a step may take, in ns. */
#define LONGEST 0xffffffffU

struct step {
	__u32 point, device, network;
	__u32 took; /* ns since the step before */
};

struct trip {
	__u64 began, last; /* ns */
	__u32 steps, response;
	struct step step[MOST_STEPS];
};

struct edge {
	__u32 whole;    /* bucket of the time that the whole way took */
	__u32 response; /* 1: towards the client */
	__u32 from_point, from_device, from_network;
	__u32 to_point, to_device, to_network;
};

struct times {
	__u64 count, sum; /* ns */
	__u64 order;      /* sum of the places among the steps of a way */
	__u32 bucket[BUCKETS];
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64); /* address of the sk_buff */
	__type(value, struct trip);
} trips SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct edge);
	__type(value, struct times);
} hops SEC(".maps");

/* Room for what the stack of 512 bytes can't hold. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct trip);
} blank_trip SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct times);
} blank_times SEC(".maps");

/* calls holds when each thread of the lab entered its last system call. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32); /* thread */
	__type(value, __u64);
} calls SEC(".maps");

/* received is the packet that the protocols got last on this CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} received SEC(".maps");

struct waiting {
	__u64 packet, began;
};

/* ready holds the first unread packet of each socket. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64); /* address of the sock */
	__type(value, struct waiting);
} ready SEC(".maps");

/* held is the request that each server's socket has not answered yet. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u64); /* address of the sock */
	__type(value, struct trip);
} held SEC(".maps");

/* returns is when each client's socket had its last answer. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u64); /* address of the sock */
	__type(value, __u64);
} returns SEC(".maps");

/* counts of packets that were sent, of ways followed to their end, and of
 * packets that were lost or ended otherwise, as when they were joined to others. */
enum { BEGAN, ARRIVED, LOST, JOINED, COUNTS };
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, COUNTS);
	__type(key, __u32);
	__type(value, __u64);
} counts SEC(".maps");

struct loss {
	__u64 location; /* of the code that frees it */
	__u32 reason, network, device, mine;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, struct loss);
	__type(value, __u64);
} losses SEC(".maps");

__u32 on = 0;     /* 1 during a pass */
__u32 rounds = 0; /* 1: requests are answered, and a way is there and back */
__u32 closed = 0; /* 1: a client with its answer sends at once, which is part of the way */

/* count gives how many there were before, on this CPU. */
static __always_inline __u64 count(__u32 what)
{
	__u64 *n = bpf_map_lookup_elem(&counts, &what);
	return n ? (*n)++ : 0;
}

/* bucket_of is linear in steps of 8 ns below 64 ns, and has eight steps in each
 * octave above. */
static __always_inline __u32 bucket_of(__u32 ns)
{
	__u32 octave = 0, top = ns;

	if (ns < 64)
		return ns >> 3;
	for (__u32 bits = 16; bits > 0; bits >>= 1) {
		if (top >> bits) {
			top >>= bits;
			octave += bits;
		}
	}
	return 8 + (octave - 6) * 8 + ((ns >> (octave - 3)) & 7);
}

static __noinline void add(struct edge *e, __u64 took, __u32 order)
{
	__u32 zero = 0, bucket = bucket_of(took < LONGEST ? took : LONGEST);
	struct times *t = bpf_map_lookup_elem(&hops, e);

	if (!t) {
		struct times *blank = bpf_map_lookup_elem(&blank_times, &zero);
		if (!blank)
			return;
		bpf_map_update_elem(&hops, e, blank, BPF_NOEXIST);
		t = bpf_map_lookup_elem(&hops, e);
		if (!t)
			return;
	}
	__sync_fetch_and_add(&t->count, 1);
	__sync_fetch_and_add(&t->sum, took);
	__sync_fetch_and_add(&t->order, order);
	if (bucket < BUCKETS)
		__sync_fetch_and_add(&t->bucket[bucket], 1);
}

/* last_of is the last step of a trip, which has one at least. */
static __always_inline struct step *last_of(struct trip *t)
{
	return &t->step[(t->steps - 1) & (MOST_STEPS - 1)];
}

static __always_inline void note(struct trip *t, __u32 point, __u32 device, __u32 network, __u64 now)
{
	__u32 n = t->steps;
	__u64 took = now - t->last;

	/* Else the compiler compares the note before instead, in which the verifier of
	 * Linux 6.12 finds no bound for this one. */
	barrier_var(n);
	if (n >= MOST_STEPS)
		return;
	t->step[n].point = point;
	t->step[n].device = device;
	t->step[n].network = network;
	t->step[n].took = took < LONGEST ? took : LONGEST;
	t->steps = n + 1;
	t->last = now;
}

/* answer passes the notes of a request to its answer. */
static __always_inline void answer(__u64 sock, __u64 key, __u64 call, __u32 point, __u32 device, __u32 network, __u64 now)
{
	struct trip *t = bpf_map_lookup_elem(&held, &sock);

	if (!t)
		return;
	bpf_map_update_elem(&trips, &key, t, BPF_ANY);
	bpf_map_delete_elem(&held, &sock);
	t = bpf_map_lookup_elem(&trips, &key);
	if (!t)
		return;
	t->response = 1;
	note(t, SEND, 0, network, call > t->last ? call : now);
	note(t, point, device, network, now);
	count(BEGAN);
}

static __always_inline void begin(struct sock *sk, __u64 key, __u32 point, __u32 device, __u32 network)
{
	__u32 zero = 0, thread = (__u32)bpf_get_current_pid_tgid();
	__u64 now = bpf_ktime_get_ns(), sock = (__u64)sk, called = 0, *call, *last;
	struct trip *t = bpf_map_lookup_elem(&blank_trip, &zero);
	bool response = sk->__sk_common.skc_num == port;

	call = bpf_map_lookup_elem(&calls, &thread);
	if (call) {
		called = *call;
		*call = 0;
	}
	if (rounds && response) {
		answer(sock, key, called, point, device, network, now);
		return;
	}
	if (!t)
		return;
	t->steps = 0;
	t->response = response;
	t->began = t->last = called ? called : now;
	last = closed ? bpf_map_lookup_elem(&returns, &sock) : 0;
	if (last && *last < t->last) {
		t->began = t->last = *last;
		note(t, RETURN, 0, network, *last);
	}
	if (called)
		note(t, SEND, 0, network, called);
	note(t, point, device, network, now);
	bpf_map_update_elem(&trips, &key, t, BPF_ANY);
	count(BEGAN);
}

static __always_inline int pass(struct sk_buff *skb, __u32 point)
{
	__u64 key = (__u64)skb;
	struct trip *t = bpf_map_lookup_elem(&trips, &key);
	struct net_device *dev = skb->dev;
	struct sock *sk = skb->sk;
	__u32 network;

	if (!dev)
		return 0;
	network = dev->nd_net.net->ns.inum;
	/* What a socket sends in its own namespace is a new packet, at an address
	 * that may have been another's, unless a device hands it to the next. Through
	 * a veth and a bridge it keeps its socket. */
	if ((point == QUEUE || point == TRANSMIT) && sk && sk->__sk_common.skc_net.net->ns.inum == network &&
	    (!t || point == QUEUE && last_of(t)->point != TRANSMIT)) {
		if (t)
			bpf_map_delete_elem(&trips, &key);
		if (on && of_workload(sk) && in_lab(network) && has_payload(skb))
			begin(sk, key, point, dev->ifindex, network);
		return 0;
	}
	if (t)
		note(t, point, dev->ifindex, network, bpf_ktime_get_ns());
	return 0;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(enter, void *regs, long id)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 thread = (__u32)bpf_get_current_pid_tgid();
	__u64 now;

	if (!on || !in_lab(task->nsproxy->net_ns->ns.inum))
		return 0;
	now = bpf_ktime_get_ns();
	bpf_map_update_elem(&calls, &thread, &now, BPF_ANY);
	return 0;
}

SEC("tp_btf/net_dev_queue")
int BPF_PROG(queue, struct sk_buff *skb)
{
	return pass(skb, QUEUE);
}

SEC("tp_btf/net_dev_start_xmit")
int BPF_PROG(transmit, struct sk_buff *skb)
{
	return pass(skb, TRANSMIT);
}

SEC("tp_btf/netif_rx")
int BPF_PROG(arrive, struct sk_buff *skb)
{
	return pass(skb, ARRIVE);
}

SEC("tp_btf/napi_gro_receive_entry")
int BPF_PROG(poll, struct sk_buff *skb)
{
	return pass(skb, POLL);
}

SEC("tp_btf/netif_receive_skb")
int BPF_PROG(receive, struct sk_buff *skb)
{
	__u32 zero = 0;
	__u64 *last = bpf_map_lookup_elem(&received, &zero);

	if (last)
		*last = (__u64)skb;
	return pass(skb, RECEIVE);
}

SEC("tp_btf/sk_data_ready")
int BPF_PROG(data_ready, struct sock *sk)
{
	__u32 zero = 0, network = sk->__sk_common.skc_net.net->ns.inum;
	__u64 sock = (__u64)sk, *last = bpf_map_lookup_elem(&received, &zero);
	struct waiting first;
	struct trip *t;

	if (!last || !*last || !of_workload(sk))
		return 0;
	first.packet = *last;
	t = bpf_map_lookup_elem(&trips, &first.packet);
	if (!t)
		return 0;
	*last = 0;
	if (last_of(t)->point != RECEIVE)
		return 0;
	/* The packet that came last on this CPU may be another's. A VLAN, macvlan or ipvlan
	 * device gets its packets where the device below received them, and passes no other
	 * point: then this packet is the last in the socket. */
	if (last_of(t)->network != network && (__u64)sk->sk_receive_queue.prev != first.packet)
		return 0;
	note(t, READY, 0, network, bpf_ktime_get_ns());
	first.began = t->began;
	bpf_map_update_elem(&ready, &sock, &first, BPF_NOEXIST);
	return 0;
}

/* settle adds the notes of a way that has ended to those of its hops. */
static __always_inline void settle(struct trip *t, __u64 now)
{
	__u64 whole = now - t->began;
	struct edge e = {};

	e.whole = bucket_of(whole < LONGEST ? whole : LONGEST);
	e.to_point = WHOLE;
	add(&e, whole, 0);
	e.response = rounds ? 0 : t->response;
	_Pragma("clang loop unroll(disable)")
	for (__u32 i = 0; i < MOST_STEPS && i < t->steps; i++) {
		struct step *s = &t->step[i];
		e.to_point = s->point;
		e.to_device = s->device;
		e.to_network = s->network;
		if (i > 1 && e.from_point == RETURN)
			e.response = 1;
		if (i > 0)
			add(&e, s->took, i);
		e.from_point = s->point;
		e.from_device = s->device;
		e.from_network = s->network;
	}
}

SEC("tp_btf/sock_recv_length")
int BPF_PROG(recv_length, struct sock *sk, int ret)
{
	__u64 sock = (__u64)sk, packet, began, now;
	struct waiting *first = bpf_map_lookup_elem(&ready, &sock);
	struct trip *t;

	if (!first || ret <= 0)
		return 0;
	packet = first->packet;
	began = first->began;
	now = bpf_ktime_get_ns();
	bpf_map_delete_elem(&ready, &sock);
	t = bpf_map_lookup_elem(&trips, &packet);
	if (!t || t->began != began)
		return 0;
	note(t, RETURN, 0, last_of(t)->network, now);
	if (rounds && !t->response)
		bpf_map_update_elem(&held, &sock, t, BPF_ANY);
	else if (count(ARRIVED) % SETTLED == 0)
		settle(t, now);
	if (closed && t->response)
		bpf_map_update_elem(&returns, &sock, &now, BPF_ANY);
	bpf_map_delete_elem(&trips, &packet);
	return 0;
}

/* leave forgets a packet whose buffer is freed. One whose data is in a socket
 * is freed before the system call returns: that ends its way. */
static __always_inline void leave(__u64 key, struct trip *t, __u32 how)
{
	if (last_of(t)->point == READY)
		return;
	bpf_map_delete_elem(&trips, &key);
	count(how);
}

SEC("tp_btf/consume_skb")
int BPF_PROG(consume, struct sk_buff *skb)
{
	__u64 key = (__u64)skb;
	struct trip *t = bpf_map_lookup_elem(&trips, &key);

	if (t)
		leave(key, t, JOINED);
	return 0;
}

SEC("tp_btf/kfree_skb")
int BPF_PROG(lose, struct sk_buff *skb, void *location, int reason)
{
	__u64 key = (__u64)skb, packets, *sum;
	struct trip *t = bpf_map_lookup_elem(&trips, &key);
	struct net_device *dev = skb->dev;
	struct sock *sk = skb->sk;
	struct loss l = {};
	__u16 segments = 0;

	if (!on)
		return 0;
	/* The data of a packet that waited in a socket was read, and its address is
	 * that of another buffer now. */
	if (t && last_of(t)->point == READY && !carries_workload(skb)) {
		bpf_map_delete_elem(&trips, &key);
		t = 0;
	}
	l.location = (__u64)location;
	l.reason = reason;
	if (t) { /* where it was last is known: what the buffer says may be overwritten */
		l.network = last_of(t)->network;
		l.device = last_of(t)->device;
		l.mine = 1;
		leave(key, t, LOST);
	} else if (dev) {
		l.network = dev->nd_net.net->ns.inum;
		l.device = dev->ifindex;
	} else if (sk) {
		l.network = sk->__sk_common.skc_net.net->ns.inum;
	}
	if (!in_lab(l.network))
		return 0;
	if (!t)
		l.mine = carries_workload(skb);
	struct skb_shared_info *shared = (void *)(skb->head + skb->end);
	bpf_probe_read_kernel(&segments, sizeof(segments), __builtin_preserve_access_index(&shared->gso_segs));
	packets = segments ? segments : 1;
	sum = bpf_map_lookup_elem(&losses, &l);
	if (!sum && bpf_map_update_elem(&losses, &l, &packets, BPF_NOEXIST) == 0)
		return 0;
	if (!sum) /* another CPU was faster */
		sum = bpf_map_lookup_elem(&losses, &l);
	if (sum)
		__sync_fetch_and_add(sum, packets);
	return 0;
}
