package lab

import (
	"fmt"
	"math"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

const (
	// frameOverhead is what a frame takes on the wire beyond what the kernel
	// counts: FCS 4, preamble and start 8, gap 12 bytes (IEEE 802.3).
	frameOverhead = 24
	// leastBurst lets one jumbo frame through; above it the bucket still cuts
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

// burst of a link in bytes.
func burst(bitsPerSecond float64) uint32 {
	return uint32(math.Max(leastBurst, bitsPerSecond/8*burstSeconds))
}

// LinkIsInexact reports whether a link of this rate lets whole GSO packets
// pass, so that it may carry a little more than a wire would.
func LinkIsInexact(bitsPerSecond float64) bool { return burst(bitsPerSecond) > gsoBytes }

// SetLink makes a device's transmit side a link of the given rate: a token
// bucket that counts each frame with all that it takes on the wire. A tag is
// what the kernel keeps outside a frame and does not count, in bytes: that of a
// VLAN. The netlink library's own type lacks the overhead, so the attributes
// are written raw (linux/pkt_sched.h, struct tc_tbf_qopt).
func (ns *Namespace) SetLink(device string, bitsPerSecond float64, tag int) error {
	index, err := ns.index(device)
	if err != nil {
		return err
	}
	bytesPerSecond := uint64(bitsPerSecond / 8)
	params := nl.TcTbfQopt{Limit: uint32(math.Min(math.MaxInt32, math.Max(leastQueue, bitsPerSecond/8*queueSeconds)))}
	params.Rate = nl.TcRateSpec{Linklayer: linklayerEthernet, Overhead: uint16(frameOverhead + tag), Rate: uint32(min(bytesPerSecond, math.MaxUint32))}

	options := nl.NewRtAttr(nl.TCA_OPTIONS, nil)
	options.AddRtAttr(nl.TCA_TBF_PARMS, params.Serialize())
	options.AddRtAttr(nl.TCA_TBF_BURST, nl.Uint32Attr(burst(bitsPerSecond)))
	if bytesPerSecond > math.MaxUint32 {
		options.AddRtAttr(nl.TCA_TBF_RATE64, nl.Uint64Attr(bytesPerSecond))
	}
	return ns.Do(func() error {
		req := nl.NewNetlinkRequest(unix.RTM_NEWQDISC, unix.NLM_F_CREATE|unix.NLM_F_REPLACE|unix.NLM_F_ACK)
		req.AddData(&nl.TcMsg{
			Family: nl.FAMILY_ALL, Ifindex: int32(index),
			Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT,
		})
		req.AddData(nl.NewRtAttr(nl.TCA_KIND, nl.ZeroTerminated("tbf")))
		req.AddData(options)
		if _, err := req.Execute(unix.NETLINK_ROUTE, 0); err != nil {
			return fmt.Errorf("set link of %s in %s to %.0f bit/s: %w: the kernel needs sch_tbf", device, ns.Name, bitsPerSecond, err)
		}
		return nil
	})
}
