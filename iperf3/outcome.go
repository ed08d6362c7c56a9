package iperf3

import (
	"net/netip"
	"time"
)

// Outcome is what a test measured, both ends' figures together.
type Outcome struct {
	Test       Test // as it was run, with the defaults filled in
	Server     netip.AddrPort
	Started    time.Time
	Cookie     string
	MSS        int // bytes, of the control connection
	SendBuffer int // bytes, of a data flow, as the kernel counts them
	ReadBuffer int

	Flows     []Flow
	Intervals []Interval

	CPU, ServerCPU               CPU
	Congestion, ServerCongestion string // as read back; empty: UDP, or unknown
	Warnings                     []string
}

// Flow is one flow's figures, without the omitted time.
type Flow struct {
	Socket        int
	Sends         bool // this end sent
	Local, Remote netip.AddrPort

	SentBytes     int64
	ReceivedBytes int64
	SentTime      time.Duration
	ReceivedTime  time.Duration

	// Of TCP.
	Retransmits                   int64 // segments; -1: the sender did not report them
	LargestCongestionWindow       int64 // bytes; these of a sending end only
	LargestPeerWindow             int64 // bytes
	LeastRTT, MeanRTT, LargestRTT time.Duration

	// Of UDP.
	Datagrams  int64 // sent; with AllTime, those of the omitted time too
	Lost       int64 // of these, what never arrived
	AllTime    bool  // the server does not report the loss of the omitted time separately
	Duplicates int64 // -1: the receiver does not count them
	Reordered  int64 // likewise
	Jitter     time.Duration
	Drops      int64 // datagrams that this machine refused to send; not among Datagrams
	Skipped    int64 // datagrams or blocks that a paced sender gave up, being too late
}

// sum adds up what one figure is over the flows that are wanted.
func (o Outcome) sum(sends bool, figure func(Flow) int64) (sum int64) {
	for _, f := range o.Flows {
		if f.Sends == sends {
			sum += figure(f)
		}
	}
	return sum
}

// times are how long one direction was sent and received.
func (o Outcome) times(sends bool) (sent, received time.Duration) {
	for _, f := range o.Flows {
		if f.Sends == sends {
			return f.SentTime, f.ReceivedTime
		}
	}
	return 0, 0
}

// directions are the directions of the test, that of the client first.
func (o Outcome) directions() []bool {
	switch {
	case o.Test.Bidir:
		return []bool{true, false}
	case o.Test.Reverse:
		return []bool{false}
	}
	return []bool{true}
}

// Throughput is what the receivers got, in bit/s; both directions together.
func (o Outcome) Throughput() (sum float64) {
	for _, sends := range o.directions() {
		_, received := o.times(sends)
		sum += perSecond(o.sum(sends, func(f Flow) int64 { return f.ReceivedBytes }), received)
	}
	return sum
}

// Loss is the share of the datagrams sent that never arrived.
func (o Outcome) Loss() float64 {
	var sent, lost int64
	for _, f := range o.Flows {
		sent, lost = sent+f.Datagrams, lost+f.Lost
	}
	if sent == 0 {
		return 0
	}
	return float64(lost) / float64(sent)
}

// Metrics are the figures under the names that a result has for them.
func (o Outcome) Metrics() map[string]float64 {
	metrics := map[string]float64{"throughput": o.Throughput()}
	if o.Test.UDP {
		var jitter time.Duration
		var drops int64
		for _, f := range o.Flows {
			jitter += f.Jitter
			drops += f.Drops
		}
		metrics["loss"] = o.Loss()
		metrics["jitter"] = jitter.Seconds() / float64(len(o.Flows))
		metrics["sender_drops"] = float64(drops)
		return metrics
	}
	var retransmits int64
	for _, f := range o.Flows {
		if f.Retransmits < 0 {
			return metrics
		}
		retransmits += f.Retransmits
	}
	metrics["retransmits"] = float64(retransmits)
	return metrics
}

// Series are this end's figures per interval: throughput in bit/s, sent or
// received, both directions together, and retransmits of a sender.
func (o Outcome) Series() map[string][]float64 {
	series := map[string][]float64{}
	for _, i := range o.Intervals {
		if i.Omitted {
			continue
		}
		series["throughput"] = append(series["throughput"], i.BitsPerSecond(true)+i.BitsPerSecond(false))
		if !o.Test.UDP && !o.Test.Reverse {
			var n int64
			for _, s := range i.Steps {
				n += s.Retransmits
			}
			series["retransmits"] = append(series["retransmits"], float64(n))
		}
	}
	return series
}
