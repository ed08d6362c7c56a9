package iperf3

import "time"

// jsonEnd is the summary of iperf3's JSON.
func (o Outcome) jsonEnd() jsonEnd {
	end := jsonEnd{Streams: []jsonStream{}, CPU: jsonCPU{
		o.CPU.Total, o.CPU.User, o.CPU.System, o.ServerCPU.Total, o.ServerCPU.User, o.ServerCPU.System,
	}}
	for n, sends := range o.directions() {
		for _, f := range o.Flows {
			if f.Sends == sends {
				end.Streams = append(end.Streams, o.jsonFlow(f))
			}
		}
		sent, received, both := o.jsonSums(sends)
		if n == 0 {
			end.SumSent, end.SumReceived, end.Sum = sent, received, both
		} else {
			end.SumSentReverse, end.SumReceivedReverse, end.SumReverse = &sent, &received, both
		}
	}
	end.SenderCongestion, end.ReceiverCongestion = o.Congestion, o.ServerCongestion
	if o.Test.Reverse {
		end.SenderCongestion, end.ReceiverCongestion = o.ServerCongestion, o.Congestion
	}
	return end
}

// jsonFlow is one flow's summary.
func (o Outcome) jsonFlow(f Flow) jsonStream {
	sent := newSpan(0, f.SentTime, f.SentBytes, f.Sends)
	sent.Socket = f.Socket
	if o.Test.UDP {
		sent.jsonDatagrams = newDatagrams(f.Jitter, f.Lost, f.Datagrams)
		sent.Packets = &f.Datagrams
		if f.Reordered >= 0 {
			sent.OutOfOrder = &f.Reordered
		}
		return jsonStream{UDP: &sent}
	}
	received := newSpan(0, f.ReceivedTime, f.ReceivedBytes, f.Sends)
	received.Socket = f.Socket
	if f.Retransmits >= 0 {
		sent.jsonSender = &jsonSender{f.Retransmits}
		sent.jsonTCPTotal = &jsonTCPTotal{
			f.LargestCongestionWindow, f.LargestPeerWindow,
			f.LargestRTT.Microseconds(), f.LeastRTT.Microseconds(), f.MeanRTT.Microseconds(),
		}
	}
	return jsonStream{Sender: &sent, Receiver: &received}
}

// jsonSums are the sums of one direction: of what was sent, of what was
// received, and UDP's older one of both.
func (o Outcome) jsonSums(sends bool) (sent, received jsonSpan, both *jsonSpan) {
	sentTime, receivedTime := o.times(sends)
	sent = newSpan(0, sentTime, o.sum(sends, func(f Flow) int64 { return f.SentBytes }), sends)
	received = newSpan(0, receivedTime, o.sum(sends, func(f Flow) int64 { return f.ReceivedBytes }), sends)
	if !o.Test.UDP {
		known := true
		for _, f := range o.Flows {
			known = known && (f.Sends != sends || f.Retransmits >= 0)
		}
		if known {
			sent.jsonSender = &jsonSender{o.sum(sends, func(f Flow) int64 { return f.Retransmits })}
		}
		return sent, received, nil
	}
	datagrams := o.sum(sends, func(f Flow) int64 { return f.Datagrams })
	lost := o.sum(sends, func(f Flow) int64 { return f.Lost })
	jitter := time.Duration(o.sum(sends, func(f Flow) int64 { return int64(f.Jitter) }) / max(int64(o.Test.Flows), 1))
	sent.jsonDatagrams, sent.Packets, sent.Sender = newDatagrams(0, 0, datagrams), &datagrams, true
	received.jsonDatagrams, received.Packets, received.Sender = newDatagrams(jitter, lost, datagrams), &datagrams, false
	all := newSpan(0, receivedTime, sent.Bytes, sends)
	all.jsonDatagrams, all.Packets = received.jsonDatagrams, &datagrams
	all.BitsPerSecond = sent.BitsPerSecond
	return sent, received, &all
}

func (o Outcome) jsonTare() jsonTare {
	t := jsonTare{Metrics: o.Metrics(), Series: o.Series(), Warnings: o.Warnings}
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
