package iperf3

import (
	"time"

	"tare/foreign"
)

// endDocument is the summary of iperf3's JSON.
func (o Outcome) endDocument() foreign.Iperf3End {
	end := foreign.Iperf3End{Streams: []foreign.Iperf3Stream{}, CPU: &foreign.Iperf3CPU{
		HostTotal: o.CPU.Total, HostUser: o.CPU.User, HostSystem: o.CPU.System,
		RemoteTotal: o.ServerCPU.Total, RemoteUser: o.ServerCPU.User, RemoteSystem: o.ServerCPU.System,
	}}
	for n, sends := range o.directions() {
		for _, f := range o.Flows {
			if f.Sends == sends {
				end.Streams = append(end.Streams, o.flowDocument(f))
			}
		}
		sent, received, both := o.sums(sends)
		if n == 0 {
			end.Sent, end.Received, end.Sum = &sent, &received, both
		} else {
			end.SentReverse, end.ReceivedReverse, end.Reverse = &sent, &received, both
		}
	}
	end.SenderCC, end.ReceiverCC = o.Congestion, o.ServerCongestion
	if o.Test.Reverse {
		end.SenderCC, end.ReceiverCC = o.ServerCongestion, o.Congestion
	}
	return end
}

// flowDocument is one flow's summary.
func (o Outcome) flowDocument(f Flow) foreign.Iperf3Stream {
	sent := newSpan(0, f.SentTime, f.SentBytes, f.Sends)
	sent.Socket = f.Socket
	if o.Test.UDP {
		addDatagrams(&sent, f.Jitter, f.Lost, f.Datagrams)
		sent.Packets = count(f.Datagrams)
		if f.Reordered >= 0 {
			sent.OutOfOrder = count(f.Reordered)
		}
		return foreign.Iperf3Stream{UDP: &sent}
	}
	received := newSpan(0, f.ReceivedTime, f.ReceivedBytes, f.Sends)
	received.Socket = f.Socket
	if f.Retransmits >= 0 {
		sent.Retransmits = count(f.Retransmits)
		sent.MaxSndCwnd, sent.MaxSndWnd = count(f.LargestCongestionWindow), count(f.LargestPeerWindow)
		sent.MaxRTT, sent.MinRTT = count(f.LargestRTT.Microseconds()), count(f.LeastRTT.Microseconds())
		sent.MeanRTT = count(f.MeanRTT.Microseconds())
	}
	return foreign.Iperf3Stream{Sender: &sent, Receiver: &received}
}

// sums are the sums of one direction: of what was sent, of what was
// received, and UDP's older one of both.
func (o Outcome) sums(sends bool) (sent, received foreign.Iperf3Span, both *foreign.Iperf3Span) {
	sentTime, receivedTime := o.times(sends)
	sent = newSpan(0, sentTime, o.sum(sends, func(f Flow) int64 { return f.SentBytes }), sends)
	received = newSpan(0, receivedTime, o.sum(sends, func(f Flow) int64 { return f.ReceivedBytes }), sends)
	if !o.Test.UDP {
		known := true
		for _, f := range o.Flows {
			known = known && (f.Sends != sends || f.Retransmits >= 0)
		}
		if known {
			sent.Retransmits = count(o.sum(sends, func(f Flow) int64 { return f.Retransmits }))
		}
		return sent, received, nil
	}
	datagrams := o.sum(sends, func(f Flow) int64 { return f.Datagrams })
	lost := o.sum(sends, func(f Flow) int64 { return f.Lost })
	jitter := time.Duration(o.sum(sends, func(f Flow) int64 { return int64(f.Jitter) }) / max(int64(o.Test.Flows), 1))
	addDatagrams(&sent, 0, 0, datagrams)
	addDatagrams(&received, jitter, lost, datagrams)
	all := newSpan(0, receivedTime, 0, sends)
	addDatagrams(&all, jitter, lost, datagrams)
	sent.Sender, received.Sender = true, false
	all.Bytes, all.BitsPerSecond = sent.Bytes, sent.BitsPerSecond
	for _, span := range []*foreign.Iperf3Span{&sent, &received, &all} {
		span.Packets = count(datagrams)
	}
	return sent, received, &all
}

func (o Outcome) extras() extras {
	t := extras{Metrics: o.Metrics(), Series: o.Series(), Warnings: o.Warnings}
	if t.Warnings == nil {
		t.Warnings = []string{}
	}
	for _, f := range o.Flows {
		t.Skipped += f.Skipped
		if f.Duplicates < 0 {
			continue
		}
		if t.Duplicates == nil {
			t.Duplicates, t.Reordered = new(int64), new(int64)
		}
		*t.Duplicates += f.Duplicates
		*t.Reordered += f.Reordered
	}
	return t
}
