package iperf3

import (
	"fmt"
	"time"
)

// exchange swaps the results with the server and puts both together.
func (c *client) exchange() (Outcome, error) {
	t := c.transfer
	if err := c.control.sendJSON(t.results(c.out.CPU, c.out.Congestion, nil)); err != nil {
		return Outcome{}, err
	}
	text, err := c.control.readJSON(exchangePatience)
	if err != nil {
		return Outcome{}, fmt.Errorf("wait for the server's results: %w", err)
	}
	theirs, err := parseResults(text, flowIDs(len(c.flows)))
	if err != nil {
		return Outcome{}, fmt.Errorf("%w; see whether the server is iperf3", err)
	}
	if err := c.expect(displayResults, "the end of the exchange"); err != nil {
		return Outcome{}, err
	}
	if err := c.control.sendState(iperfDone); err != nil {
		return Outcome{}, err
	}
	if t.p.UDP {
		t.drainDatagrams(theirs.Streams, quietTime(c.roundTrip()))
	}
	t.stop()
	c.out.ServerCPU = CPU{theirs.CPUTotal, theirs.CPUUser, theirs.CPUSystem}
	c.out.ServerCongestion = theirs.Congestion
	for i, f := range c.flows {
		one := theirs.Streams[i]
		// The server's time went on while this end waited with nothing to send.
		one.EndTime = max(one.EndTime-c.waited.Seconds(), one.StartTime)
		c.out.Flows = append(c.out.Flows, t.outcome(i, f, one))
	}
	c.warn()
	return c.out, nil
}

// warn adds what affects the figures.
func (c *client) warn() {
	var skipped, sent int64
	allTime := false
	for _, f := range c.out.Flows {
		skipped += f.Skipped
		sent += max(f.Datagrams, f.SentBytes/int64(c.p.Len))
		allTime = allTime || f.AllTime
	}
	if c.p.Bandwidth > 0 && skipped*100 > sent {
		c.out.Warnings = append(c.out.Warnings, fmt.Sprintf("offered-rate: %d of %d blocks were given up, since this end was too late for them or the path too slow", skipped, sent+skipped))
	}
	if allTime {
		c.out.Warnings = append(c.out.Warnings, "omitted-loss: this server does not report the loss of the omitted time separately, so the loss includes it")
	}
}

// results is what this end sends about its flows. A receiver of datagrams sends
// the loss of the time that counts alone, so that none is omitted. Where the
// peer has reported how much it sent, in theirs, and the threads have ended, the
// loss is that of all it sent, and not only what is missing between others.
func (t *transfer) results(cpu CPU, congestion string, theirs []flowResults) results {
	r := results{CPUTotal: cpu.Total, CPUUser: cpu.User, CPUSystem: cpu.System, Congestion: congestion, HasRetransmits: unknown}
	opens, closes := t.watched.window()
	for i, f := range t.flows {
		a, b := opens.flows[i], closes.flows[i]
		one := flowResults{
			ID: number(f.id), Bytes: number(b.bytes - a.bytes), Retransmits: unknown,
			Jitter: b.jitter.Seconds(), Errors: number(b.lost - a.lost), Packets: number(b.datagrams),
			EndTime: (closes.at - opens.at).Seconds(),
		}
		omitted, none := number(a.datagrams), number(0)
		one.OmittedPackets, one.OmittedErrors = &omitted, &none
		if !f.sends && bool(t.p.UDP) && theirs != nil {
			one.Errors = number(f.missing(theirs[i].Packets))
			one.Packets = max(theirs[i].Packets, number(f.arrivals.Highest()+1))
		}
		if f.sends && !bool(t.p.UDP) {
			r.HasRetransmits, one.Retransmits = 1, number(b.retransmits-a.retransmits)
		} else if f.sends {
			r.HasRetransmits = 0
		}
		r.Streams = append(r.Streams, one)
	}
	return r
}

// drainDatagrams waits for the datagrams that the peer reports to have sent.
func (t *transfer) drainDatagrams(theirs []flowResults, quiet time.Duration) {
	sent := map[*flow]number{}
	for i, f := range t.flows {
		sent[f] = theirs[i].Packets
	}
	t.drain(func(f *flow) bool {
		c := &f.count
		return c.datagrams.Load() >= int64(sent[f]) && c.lost.Load() == 0
	}, quiet)
}

// outcome puts both ends' figures of flow i together.
func (t *transfer) outcome(i int, f *flow, theirs flowResults) Flow {
	opens, closes := t.watched.window()
	a, b := opens.flows[i], closes.flows[i]
	ours, span := b.bytes-a.bytes, closes.at-opens.at
	their, theirSpan := int64(theirs.Bytes), time.Duration((theirs.EndTime-theirs.StartTime)*float64(time.Second))
	if theirSpan == 0 { // servers before 3.2 do not send it
		theirSpan = span
	}
	out := Flow{
		Socket: f.socket, Sends: f.sends, Local: f.local, Remote: f.remote, Retransmits: -1,
		Duplicates: -1, Reordered: -1, Skipped: f.skipped, Drops: f.drops,
	}
	if f.sends {
		out.SentBytes, out.SentTime, out.ReceivedBytes, out.ReceivedTime = ours, span, their, theirSpan
	} else {
		out.SentBytes, out.SentTime, out.ReceivedBytes, out.ReceivedTime = their, theirSpan, ours, span
	}
	switch {
	case !bool(t.p.UDP) && f.sends:
		out.Retransmits = b.retransmits - a.retransmits
		t.summarise(i, &out)
	case !bool(t.p.UDP):
		out.Retransmits = max(int64(theirs.Retransmits), -1)
	case f.sends:
		out.lossAtServer(b.datagrams, a.datagrams, theirs)
	default:
		out.Datagrams = max(int64(theirs.Packets), f.arrivals.Highest()+1) - a.datagrams
		out.Lost = min(f.missing(theirs.Packets), out.Datagrams)
		out.Duplicates, out.Reordered = f.arrivals.Duplicates(), f.arrivals.Reordered()
		out.Jitter = time.Duration(f.count.jitter.Load())
	}
	return out
}

// lossAtServer takes the loss from what the server misses among what it got,
// and from what it never got at the end. iperf3 itself sees the former alone:
// not the end of a path, nor that nothing came.
func (f *Flow) lossAtServer(sent, omitted int64, theirs flowResults) {
	f.Datagrams = sent - omitted
	f.Lost = int64(theirs.Errors) + max(sent-int64(theirs.Packets), 0)
	switch {
	case theirs.OmittedPackets != nil && theirs.OmittedErrors != nil:
		f.Lost -= int64(*theirs.OmittedErrors)
	case omitted > 0:
		f.AllTime, f.Datagrams = true, sent
	}
	f.Lost = min(max(f.Lost, 0), f.Datagrams)
	f.Jitter = time.Duration(theirs.Jitter * float64(time.Second))
}

// summarise computes the extremes of a sending TCP flow.
func (t *transfer) summarise(i int, f *Flow) {
	var sum time.Duration
	var n time.Duration
	for _, r := range t.watched[1:] {
		s := r.flows[i].tcp
		f.LargestCongestionWindow = max(f.LargestCongestionWindow, s.CongestionWindow)
		f.LargestPeerWindow = max(f.LargestPeerWindow, s.PeerWindow)
		f.LargestRTT = max(f.LargestRTT, s.RTT)
		if f.LeastRTT == 0 || s.RTT < f.LeastRTT {
			f.LeastRTT = s.RTT
		}
		sum, n = sum+s.RTT, n+1
	}
	f.MeanRTT = sum / max(n, 1)
}
