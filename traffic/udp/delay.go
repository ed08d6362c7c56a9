package udp

import (
	"errors"
	"slices"
	"time"

	"tare/traffic"
)

// Delays is how long the datagrams of the window took, from the sender's
// stamp before its send call to the receiving kernel's stamp. The scheduling
// of the receiving process is not in it.
type Delays struct {
	Variation *traffic.Histogram // each delay less the smallest one (PDV, RFC 5481, 4.2)
	OneWay    *traffic.Histogram // the delay itself; nil unless the ends share a clock
	Every     int64              // one datagram in so many was taken
}

// maxTransits bounds the memory for delays: 8 MB.
const maxTransits = 1 << 20

// delayMeter takes the transit time of datagrams: receive stamp less send
// stamp. The clocks may differ by any offset, which the variation cancels.
type delayMeter struct {
	shared   bool // both stamps are of one clock
	every    int64
	count    int64
	transits []int64

	started bool
	last    int64
	jitter  float64 // nanoseconds
}

// newDelayMeter makes room for the delays of about expected datagrams.
func newDelayMeter(expected int64, shared bool) *delayMeter {
	d := &delayMeter{shared: shared, every: expected/maxTransits + 1}
	room := expected/d.every + expected/d.every/4 + 1024
	d.transits = make([]int64, room)
	for i := range d.transits { // map the memory
		d.transits[i] = 0
	}
	d.transits = d.transits[:0]
	return d
}

// take takes datagram i of the batch. Those inside the window count for the
// delays; the jitter is smoothed over all.
func (d *delayMeter) take(b *batch, i int, sent int64, inside bool) error {
	stamp, ok := b.arrived(i)
	if !ok {
		return errors.New("the kernel gave a datagram no receive stamp")
	}
	transit := stamp - sent
	if d.started {
		d.jitter += (float64(max(transit-d.last, d.last-transit)) - d.jitter) / 16
	}
	d.started, d.last = true, transit
	if !inside {
		return nil
	}
	if d.count++; d.count%d.every == 0 && len(d.transits) < cap(d.transits) {
		d.transits = append(d.transits, transit)
	}
	return nil
}

func (d *delayMeter) outcome() (jitter time.Duration, delays *Delays) {
	delays = &Delays{Variation: traffic.NewHistogram(), Every: d.every}
	if len(d.transits) == 0 {
		return time.Duration(d.jitter), delays
	}
	least := slices.Min(d.transits)
	for _, transit := range d.transits {
		delays.Variation.Record(time.Duration(transit - least))
	}
	if d.shared && least >= 0 {
		delays.OneWay = traffic.NewHistogram()
		for _, transit := range d.transits {
			delays.OneWay.Record(time.Duration(transit))
		}
	}
	return time.Duration(d.jitter), delays
}
