package iperf3

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"tare/traffic"
)

// readings are the counters at the test's start, at the end of the
// omitted time, at each interval, and at the end.
type readings []reading

type reading struct {
	at    time.Duration
	opens bool // the omitted time ended here
	flows []gauges
}

// gauges are one flow's running totals and, of a TCP sender, TCP_INFO.
type gauges struct {
	bytes, datagrams, lost, duplicates, reordered int64
	jitter                                        time.Duration
	tcp                                           TCPState
	retransmits                                   int64
}

// TCPState is the state of a sending TCP flow at one moment.
type TCPState struct {
	CongestionWindow int64 // bytes
	PeerWindow       int64 // bytes; 0 before Linux 5.4
	RTT              time.Duration
	RTTVariance      time.Duration
	PathMTU          int64 // bytes
}

// read takes a reading. opens: the figures begin here.
func (t *transfer) read(opens bool) error { return t.readAt(t.now(), opens) }

// readAt takes a reading that counts as one of this time.
func (t *transfer) readAt(at time.Duration, opens bool) error {
	r := reading{at: at, opens: opens, flows: make([]gauges, len(t.flows))}
	for i, f := range t.flows {
		c, g := &f.count, &r.flows[i]
		g.bytes, g.datagrams, g.lost = c.bytes.Load(), c.datagrams.Load(), c.lost.Load()
		g.duplicates, g.reordered, g.jitter = c.duplicates.Load(), c.reordered.Load(), time.Duration(c.jitter.Load())
		if f.sends && !bool(t.p.UDP) {
			var info unix.TCPInfo
			if err := traffic.TCPInfo(f.socket, &info); err != nil {
				return fmt.Errorf("flow %d: %w", f.id, err)
			}
			g.tcp, g.retransmits = tcpState(&info), int64(info.Total_retrans)
		}
	}
	t.watched = append(t.watched, r)
	return nil
}

func tcpState(info *unix.TCPInfo) TCPState {
	return TCPState{
		CongestionWindow: int64(info.Snd_cwnd) * int64(info.Snd_mss),
		PeerWindow:       int64(info.Snd_wnd),
		RTT:              time.Duration(info.Rtt) * time.Microsecond,
		RTTVariance:      time.Duration(info.Rttvar) * time.Microsecond,
		PathMTU:          int64(info.Pmtu),
	}
}

// window returns the readings between which the figures are.
func (r readings) window() (opens, closes reading) {
	for _, one := range r {
		if one.opens {
			opens = one
		}
	}
	if opens.flows == nil { // it ended before the omitted time did
		opens = r[len(r)-1]
	}
	return opens, r[len(r)-1]
}

// Interval is one step of a test's series. Times count from the beginning of
// the figures; those of omitted steps count from the test's start.
type Interval struct {
	From, To time.Duration
	Omitted  bool
	Steps    []Step
}

// Step is what one flow did in an interval.
type Step struct {
	Socket int
	Sends  bool
	Bytes  int64

	Retransmits int64 // segments, of a TCP sender
	TCP         TCPState

	Datagrams  int64 // sent, or expected at a receiver
	Lost       int64
	Duplicates int64
	Reordered  int64
	Jitter     time.Duration // at the end of the interval
}

// BitsPerSecond sums the flows that this end sends, or those that it receives.
func (i Interval) BitsPerSecond(sends bool) float64 {
	var bytes int64
	for _, s := range i.Steps {
		if s.Sends == sends {
			bytes += s.Bytes
		}
	}
	return perSecond(bytes, i.To-i.From)
}

// perSecond is a rate in bit/s; nothing in no time is 0.
func perSecond(bytes int64, span time.Duration) float64 {
	if span <= 0 {
		return 0
	}
	return float64(bytes) * 8 / span.Seconds()
}

// interval is the step that ended with the last reading.
func (t *transfer) interval() Interval {
	last := len(t.watched) - 1
	before, after := t.watched[last-1], t.watched[last]
	i := Interval{From: before.at, To: after.at, Omitted: before.at < t.omit && !before.opens}
	if !i.Omitted {
		opens, _ := t.watched.window()
		i.From, i.To = i.From-opens.at, i.To-opens.at
	}
	for n, f := range t.flows {
		a, b := before.flows[n], after.flows[n]
		i.Steps = append(i.Steps, Step{
			Socket: f.socket, Sends: f.sends, Bytes: b.bytes - a.bytes,
			Retransmits: b.retransmits - a.retransmits, TCP: b.tcp,
			Datagrams: b.datagrams - a.datagrams, Lost: b.lost - a.lost,
			Duplicates: b.duplicates - a.duplicates, Reordered: b.reordered - a.reordered, Jitter: b.jitter,
		})
	}
	return i
}

// usage is the CPU time of this process, all threads.
type usage struct {
	at           time.Time
	user, system time.Duration
}

func processUsage() (usage, error) {
	var r unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &r); err != nil {
		return usage{}, fmt.Errorf("read CPU time: %w", err)
	}
	return usage{time.Now(), time.Duration(r.Utime.Nano()), time.Duration(r.Stime.Nano())}, nil
}

// CPU is the CPU time of one end's process, in percent of one CPU, as iperf3
// counts it: the kernel's work outside the process is not in it.
type CPU struct{ Total, User, System float64 }

// since returns the CPU time between two readings.
func (u usage) since(start usage) CPU {
	span := u.at.Sub(start.at).Seconds() / 100
	if span <= 0 {
		return CPU{}
	}
	user, system := (u.user-start.user).Seconds()/span, (u.system-start.system).Seconds()/span
	return CPU{user + system, user, system}
}
