/* What the programs need of the kernel's types: the fields that they read, and
 * no others. The loader finds the offset of each in the running kernel by its
 * BTF, so that one object serves all. */
#pragma once

typedef unsigned char __u8;
typedef signed short __s16;
typedef unsigned short __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long __s64;
typedef unsigned long long __u64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u64 __be64;
typedef __u32 __wsum;

typedef _Bool bool;
#define true 1
#define false 0

/* linux/bpf.h */
enum {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_HASH = 5,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_STACK_TRACE = 7,
	BPF_MAP_TYPE_LRU_HASH = 9,
};
enum { BPF_ANY = 0, BPF_NOEXIST = 1 };
enum { BPF_F_NO_PREALLOC = 1 };

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct ns_common {
	unsigned int inum;
};

struct net {
	struct ns_common ns;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct nsproxy {
	struct net *net_ns;
};

struct task_struct {
	struct nsproxy *nsproxy;
};

struct net_device {
	int ifindex;
	possible_net_t nd_net;
};

struct sock_common {
	__be16 skc_dport;
	__u16 skc_num;
	possible_net_t skc_net;
};

struct sk_buff_head {
	struct sk_buff *prev;
};

struct sock {
	struct sock_common __sk_common;
	struct sk_buff_head sk_receive_queue;
};

struct sk_buff {
	struct net_device *dev;
	struct sock *sk;
	unsigned char *head;
	unsigned char *data;
	unsigned int len;
	unsigned int end;
	__u16 transport_header;
	__u16 network_header;
	__u16 inner_network_header;
};

struct skb_shared_info {
	unsigned short gso_segs;
};

#pragma clang attribute pop

char LICENSE[] SEC("license") = "Dual BSD/GPL";
