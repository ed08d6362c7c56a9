package workload

import (
	"tare/catalog"
	"tare/result"
	"tare/traffic/tcpsizes"
)

// tcpSizes is a sweep over message sizes.
func tcpSizes() Workload {
	return Workload{
		Serve: serving(sweep, listenTCP, tcpsizes.Serve, sizesServed),
		Send:  sending(sweep, tcpsizes.Send, sizesDriven),
	}
}

// sweep is the run's, of the workload's own sizes where it has none.
func sweep(run Run) (tcpsizes.Options, error) {
	token, err := run.token()
	sizes := run.Sizes
	if len(sizes) == 0 && err == nil {
		sizes, err = result.ParseSizes(catalog.SweptSizes)
	}
	return tcpsizes.Options{Token: token, Window: run.window(), Sizes: sizes, NoDelay: run.Mode == catalog.NoDelay}, err
}

// sizesServed is what the bulk phases measured: a step of the series is a size, in
// rising order. The window, and with it the CPU, is that of the largest.
func sizesServed(_ Run, served tcpsizes.Served) Tally {
	t := Tally{
		Metrics: map[string]float64{}, Series: map[string][]float64{},
		CC: served.Congestion, Warnings: unknownPeers(served.Unauthenticated),
	}
	var points []point
	for _, s := range served.Sizes {
		size, goodput := float64(s.Size), float64(s.Goodput())
		t.Series["size"] = append(t.Series["size"], size)
		t.Series["throughput"] = append(t.Series["throughput"], goodput)
		t.Series["rate"] = append(t.Series["rate"], goodput/8/size)
		if goodput > 0 {
			points = append(points, point{size, size * 8 / goodput})
		}
		t.Metrics["throughput"], t.Window, t.Work = goodput, s.Elapsed, float64(s.Bytes)*8/gigabit
	}
	if perMessage, perByte, ok := fitLine(points); ok {
		t.Metrics["time_per_message"], t.Metrics["time_per_byte"] = perMessage, perByte
	}
	return t
}

// sizesDriven is what the ping-pong phases measured, of the smaller sizes only:
// they are the first of the series.
func sizesDriven(_ Run, driven tcpsizes.Driven) Tally {
	t := Tally{
		Metrics: map[string]float64{"retransmits": float64(driven.Retransmits)}, Series: map[string][]float64{},
		CC: driven.Congestion,
	}
	for _, s := range driven.Sizes {
		if p50, ok := s.RTT.Quantile(0.5); ok {
			t.Series["rtt_p50"] = append(t.Series["rtt_p50"], p50.Seconds())
		}
	}
	return t
}

// point is a message's size in bytes and the time it took in seconds.
type point struct{ size, time float64 }

// fitLine fits time = perMessage + perByte x size. It makes the sum of the
// squared relative errors least, since what disturbs a phase disturbs small and
// large messages in proportion. It returns false for fewer than three sizes, or
// if either part is not above zero: then the times lie on no such line.
func fitLine(points []point) (perMessage, perByte float64, ok bool) {
	var w, x, xx, y, xy float64
	for _, p := range points {
		weight := 1 / (p.time * p.time)
		w += weight
		x += weight * p.size
		xx += weight * p.size * p.size
		y += weight * p.time
		xy += weight * p.size * p.time
	}
	determinant := w*xx - x*x
	if len(points) < 3 || determinant <= 0 {
		return 0, 0, false
	}
	perByte = (w*xy - x*y) / determinant
	perMessage = (y - perByte*x) / w
	return perMessage, perByte, perMessage > 0 && perByte > 0
}
