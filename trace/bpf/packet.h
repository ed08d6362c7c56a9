/* Which packets are the workload's: those of its port, by the socket that sends
 * them or by what they carry. */
#pragma once
#include "kernel.h"

enum { TCP = 6, UDP = 17 }; /* RFC 790 */

/* port is where the workload's servers listen, in host order. */
__u16 port = 0;

/* networks holds the inodes of the lab's network namespaces. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, __u8);
} networks SEC(".maps");

static __always_inline bool in_lab(__u32 inode)
{
	return bpf_map_lookup_elem(&networks, &inode) != 0;
}

static __always_inline bool of_port(__u16 local, __be16 remote)
{
	return local == port || remote == __builtin_bswap16(port);
}

static __always_inline bool of_workload(struct sock *sk)
{
	return of_port(sk->__sk_common.skc_num, sk->__sk_common.skc_dport);
}

/* An IPv4 header, as far as it is read (RFC 791). */
struct ipv4 {
	__u8 length; /* of the header in 32-bit words, in the low half */
	__u8 rest[8];
	__u8 protocol;
};

/* carries reports whether the IPv4 packet at an offset of the buffer has the
 * workload's port at either end. */
static __always_inline bool carries(struct sk_buff *skb, __u16 offset)
{
	struct ipv4 ip;
	__be16 ports[2];
	unsigned char *at = skb->head + offset;

	if (bpf_probe_read_kernel(&ip, sizeof(ip), at) || ip.length >> 4 != 4)
		return false;
	if (ip.protocol != TCP && ip.protocol != UDP)
		return false;
	if (bpf_probe_read_kernel(ports, sizeof(ports), at + 4 * (ip.length & 15)))
		return false;
	return of_port(__builtin_bswap16(ports[0]), ports[1]);
}

/* carries_workload looks at the packet, and at the one inside where it is
 * encapsulated. */
static __always_inline bool carries_workload(struct sk_buff *skb)
{
	return carries(skb, skb->network_header) || carries(skb, skb->inner_network_header);
}

/* has_payload reports whether a packet has data; it is not a bare
 * acknowledgement, for whose way no end waits. */
static __always_inline bool has_payload(struct sk_buff *skb)
{
	struct ipv4 ip;
	__u8 offset;
	unsigned char *at = skb->head + skb->network_header;
	__u32 left = skb->len - (__u32)(at - skb->data);

	if (bpf_probe_read_kernel(&ip, sizeof(ip), at) || ip.protocol != TCP)
		return true;
	at += 4 * (ip.length & 15);
	if (bpf_probe_read_kernel(&offset, sizeof(offset), at + 12)) /* RFC 9293, 3.1 */
		return true;
	return left > 4 * (ip.length & 15) + 4 * (offset >> 4);
}
