package lab

import (
	"fmt"
	"math"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"

	"tare/wire"
)

const (
	// frameOverhead is what a frame takes on the wire beyond what the kernel
	// counts: FCS 4, preamble and start 8, gap 12 bytes (IEEE 802.3).
	frameOverhead = 24
	// leastBurst lets some frames through at once; above it the bucket still cuts
	// GSO packets into frames itself (net/sched/sch_tbf.c, tbf_segment).
	leastBurst = 8000
	// burstSeconds is the slack that timers need at high rates.
	burstSeconds = 150e-6
	// queueSeconds bounds the queue before the bucket.
	queueSeconds = 50e-3
	leastQueue   = 128 << 10
	// gsoBytes is the largest packet that a bucket may pass uncut.
	gsoBytes = 64 << 10

	linklayerEthernet = 1 // TC_LINKLAYER_ETHERNET, linux/pkt_sched.h
)

// Link is what joins a host to the others: each host sends over its own link. The zero
// link is as fast as the CPU.
type Link struct {
	BitsPerSecond float64       // 0: as fast as the CPU
	Delay         time.Duration // of each frame, one way
	Loss          float64       // share of the frames that are lost, at random
	Reorder       float64       // share of the frames that are not delayed, and so overtake others
}

// IsZero reports whether the hosts are joined as fast as the CPU can.
func (l Link) IsZero() bool { return l == Link{} }

// burst of a link in bytes.
func burst(bitsPerSecond float64) uint32 {
	return uint32(math.Max(leastBurst, bitsPerSecond/8*burstSeconds))
}

// burstFor is burst for a device whose largest frame takes so many bytes. A bucket drops
// what is larger than its burst, and with room for one frame alone it loses what comes
// while its timer is late.
func burstFor(bitsPerSecond float64, frame uint32) uint32 {
	usual := burst(bitsPerSecond)
	if 2*frame > usual {
		return frame + leastBurst
	}
	return usual
}

// LinkIsInexact reports whether a link of this rate lets whole GSO packets
// pass, so that it may carry a little more than a wire would.
func LinkIsInexact(bitsPerSecond float64) bool { return burst(bitsPerSecond) > gsoBytes }

// The handles of a device's queueing discipline, of the one below it, and of its place.
const (
	rootQdisc  = 1 << 16
	innerQdisc = 2 << 16
	belowRoot  = rootQdisc + 1
)

// SetLink makes a device's transmit side a link. A tag is what the kernel keeps outside a
// frame and does not count, in bytes: that of a VLAN. Delay, loss and reordering are those
// of netem (net/sched/sch_netem.c); what it delayed then waits for the link's rate.
func (ns *Namespace) SetLink(device string, link Link, tag int) error {
	held, err := retry(func() (netlink.Link, error) { return ns.links.LinkByName(device) })
	if err != nil {
		return fmt.Errorf("set link of %s in %s: %w", device, ns.Name, err)
	}
	index, largest := held.Attrs().Index, uint32(held.Attrs().MTU+wire.EthernetHeader+frameOverhead+tag)
	return ns.Do(func() error {
		root, handle := uint32(netlink.HANDLE_ROOT), uint32(rootQdisc)
		if link.Delay > 0 || link.Loss > 0 || link.Reorder > 0 {
			if err := setNetem(index, link); err != nil {
				return fmt.Errorf("set delay and loss of %s in %s: %w: the kernel needs sch_netem: modprobe sch_netem, as root", device, ns.Name, err)
			}
			root, handle = belowRoot, innerQdisc
		}
		if link.BitsPerSecond == 0 {
			return nil
		}
		if err := setRate(index, root, handle, link.BitsPerSecond, tag, largest); err != nil {
			return fmt.Errorf("set link of %s in %s to %.0f bit/s: %w: the kernel needs sch_tbf: modprobe sch_tbf, as root", device, ns.Name, link.BitsPerSecond, err)
		}
		return nil
	})
}

// setNetem makes netem a device's queueing discipline. Its queue holds what is on its way:
// the senders' windows bound that, and it drops nothing for want of room.
func setNetem(index int, link Link) error {
	const percent = 100
	return netlink.QdiscReplace(netlink.NewNetem(
		netlink.QdiscAttrs{LinkIndex: index, Handle: rootQdisc, Parent: netlink.HANDLE_ROOT},
		netlink.NetemQdiscAttrs{
			Latency: uint32(link.Delay.Microseconds()), Loss: float32(percent * link.Loss), ReorderProb: float32(percent * link.Reorder), Limit: math.MaxInt32,
		}))
}

// setRate adds a token bucket that counts each frame with all that it takes on the wire.
// The netlink library's own type lacks the overhead, so the attributes are written raw
// (linux/pkt_sched.h, struct tc_tbf_qopt).
func setRate(index int, parent, handle uint32, bitsPerSecond float64, tag int, largest uint32) error {
	bytesPerSecond := uint64(bitsPerSecond / 8)
	params := nl.TcTbfQopt{Limit: uint32(math.Min(math.MaxInt32, math.Max(leastQueue, bitsPerSecond/8*queueSeconds)))}
	params.Rate = nl.TcRateSpec{Linklayer: linklayerEthernet, Overhead: uint16(frameOverhead + tag), Rate: uint32(min(bytesPerSecond, math.MaxUint32))}

	options := nl.NewRtAttr(nl.TCA_OPTIONS, nil)
	options.AddRtAttr(nl.TCA_TBF_PARMS, params.Serialize())
	options.AddRtAttr(nl.TCA_TBF_BURST, nl.Uint32Attr(burstFor(bitsPerSecond, largest)))
	if bytesPerSecond > math.MaxUint32 {
		options.AddRtAttr(nl.TCA_TBF_RATE64, nl.Uint64Attr(bytesPerSecond))
	}
	req := nl.NewNetlinkRequest(unix.RTM_NEWQDISC, unix.NLM_F_CREATE|unix.NLM_F_REPLACE|unix.NLM_F_ACK)
	req.AddData(&nl.TcMsg{Family: nl.FAMILY_ALL, Ifindex: int32(index), Handle: handle, Parent: parent})
	req.AddData(nl.NewRtAttr(nl.TCA_KIND, nl.ZeroTerminated("tbf")))
	req.AddData(options)
	_, err := req.Execute(unix.NETLINK_ROUTE, 0)
	return err
}
