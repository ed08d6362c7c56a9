package iperf3

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"golang.org/x/sys/unix"

	"tare/foreign"
)

// extras is what iperf3's JSON has no place for. Metrics and series have the
// names and units of a result.
type extras struct {
	Metrics    map[string]float64   `json:"metrics"`
	Series     map[string][]float64 `json:"series"`
	Duplicates *int64               `json:"duplicates,omitempty"` // datagrams, where this end received
	Reordered  *int64               `json:"reordered,omitempty"`
	Skipped    int64                `json:"skipped"` // blocks that a paced sender gave up
	Warnings   []string             `json:"warnings"`
}

// WriteJSON writes the outcome as iperf3 -J does, with one more key, x_tare.
// tool is the version that it names; it begins with the name of the tool.
func (o Outcome) WriteJSON(w io.Writer, tool string) error {
	start, err := o.startDocument(tool)
	if err != nil {
		return err
	}
	d := foreign.Iperf3Document{Start: start, Intervals: []foreign.Iperf3Interval{}, End: o.endDocument(), Tare: o.extras()}
	for _, i := range o.Intervals {
		d.Intervals = append(d.Intervals, o.intervalDocument(i))
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "\t")
	if err := encoder.Encode(d); err != nil {
		return fmt.Errorf("write iperf3's JSON: %w", err)
	}
	return nil
}

func (o Outcome) startDocument(tool string) (*foreign.Iperf3Start, error) {
	system, err := systemInfo()
	if err != nil {
		return nil, err
	}
	s := &foreign.Iperf3Start{
		Connected: []foreign.Iperf3Connection{}, Version: tool, SystemInfo: system,
		Timestamp:    foreign.Iperf3Time{Time: o.Started.UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT"), Seconds: float64(o.Started.Unix())},
		ConnectingTo: &foreign.Iperf3Host{Host: o.Server.Addr().String(), Port: o.Server.Port()}, Cookie: o.Cookie,
		TargetBitrate: count(int64(o.Test.Rate)), SockBufsize: count(o.Test.Window),
		SndbufActual: count(o.SendBuffer), RcvbufActual: count(o.ReadBuffer),
	}
	p := o.Test.parameters()
	s.Test = foreign.Iperf3Test{
		Protocol: "TCP", Streams: o.Test.Flows, Size: o.Test.Size, Omit: float64(p.Omit), Duration: float64(p.Time),
		Bytes: float64(o.Test.Bytes), TOS: count(0), Target: float64(int64(o.Test.Rate)),
	}
	if o.Test.UDP {
		s.Test.Protocol = "UDP"
	} else {
		s.MSS = o.MSS
	}
	if o.Test.Reverse {
		s.Test.Reverse = 1
	}
	for _, f := range o.Flows {
		s.Connected = append(s.Connected, foreign.Iperf3Connection{
			Socket: f.Socket, LocalHost: f.Local.Addr().String(), LocalPort: f.Local.Port(),
			RemoteHost: f.Remote.Addr().String(), RemotePort: f.Remote.Port(),
		})
	}
	return s, nil
}

// count is a number that the document may lack.
func count[N int | int64](n N) *float64 { return new(float64(n)) }

// systemInfo is what uname -a prints.
func systemInfo() (string, error) {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return "", fmt.Errorf("read the system's name: %w", err)
	}
	word := unix.ByteSliceToString
	return fmt.Sprintf("%s %s %s %s %s", word(u.Sysname[:]), word(u.Nodename[:]), word(u.Release[:]), word(u.Version[:]), word(u.Machine[:])), nil
}

func (o Outcome) intervalDocument(i Interval) foreign.Iperf3Interval {
	out := foreign.Iperf3Interval{Streams: []foreign.Iperf3Span{}}
	for n, sends := range o.directions() {
		sum := Step{Sends: sends}
		var flows time.Duration
		for _, s := range i.Steps {
			if s.Sends != sends {
				continue
			}
			out.Streams = append(out.Streams, o.stepSpan(i, s, true))
			sum.Bytes, sum.Retransmits = sum.Bytes+s.Bytes, sum.Retransmits+s.Retransmits
			sum.Datagrams, sum.Lost, sum.Jitter = sum.Datagrams+s.Datagrams, sum.Lost+s.Lost, sum.Jitter+s.Jitter
			flows++
		}
		sum.Jitter /= max(flows, 1)
		span := o.stepSpan(i, sum, false)
		if n == 0 {
			out.Sum = &span
		} else {
			out.Reverse = &span
		}
	}
	return out
}

// stepSpan is one flow's interval, or the sum of several.
func (o Outcome) stepSpan(i Interval, s Step, single bool) foreign.Iperf3Span {
	span := newSpan(i.From, i.To, s.Bytes, s.Sends)
	span.Socket, span.Omitted = s.Socket, &i.Omitted
	switch {
	case o.Test.UDP:
		span.Packets = count(s.Datagrams)
		if !s.Sends {
			addDatagrams(&span, s.Jitter, s.Lost, s.Datagrams)
		}
	case s.Sends:
		span.Retransmits = count(s.Retransmits)
		if single {
			span.SndCwnd, span.SndWnd, span.PMTU = count(s.TCP.CongestionWindow), count(s.TCP.PeerWindow), count(s.TCP.PathMTU)
			span.RTT, span.RTTVar = count(s.TCP.RTT.Microseconds()), count(s.TCP.RTTVariance.Microseconds())
		}
	}
	return span
}

func newSpan(from, to time.Duration, bytes int64, sends bool) foreign.Iperf3Span {
	return foreign.Iperf3Span{
		Start: from.Seconds(), End: to.Seconds(), Seconds: (to - from).Seconds(),
		Bytes: float64(bytes), BitsPerSecond: new(perSecond(bytes, to-from)), Sender: sends,
	}
}

// addDatagrams adds what a receiver counts, of so many that were sent.
func addDatagrams(span *foreign.Iperf3Span, jitter time.Duration, lost, sent int64) {
	percent := 0.0
	if sent > 0 {
		percent = 100 * float64(lost) / float64(sent)
	}
	span.JitterMS, span.Lost, span.LostPercent = new(jitter.Seconds()*1e3), count(lost), &percent
}
