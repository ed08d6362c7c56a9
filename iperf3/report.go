package iperf3

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"golang.org/x/sys/unix"
)

// The types below are iperf3's JSON of a client, name by name (iperf_api.c of
// 3.12, iperf_print_intermediate and iperf_print_results). Rates are payload
// bit/s, times s where the name says nothing else.
type (
	jsonReport struct {
		Start     jsonStart      `json:"start"`
		Intervals []jsonInterval `json:"intervals"`
		End       jsonEnd        `json:"end"`
		Tare      jsonTare       `json:"x_tare"`
	}
	jsonStart struct {
		Connected     []jsonConnected `json:"connected"`
		Version       string          `json:"version"`
		SystemInfo    string          `json:"system_info"`
		Timestamp     jsonTimestamp   `json:"timestamp"`
		ConnectingTo  jsonHost        `json:"connecting_to"`
		Cookie        string          `json:"cookie"`
		MSS           int             `json:"tcp_mss_default,omitempty"`
		TargetBitrate int64           `json:"target_bitrate"`
		SockBufsize   int             `json:"sock_bufsize"`
		SndbufActual  int             `json:"sndbuf_actual"`
		RcvbufActual  int             `json:"rcvbuf_actual"`
		TestStart     jsonTest        `json:"test_start"`
	}
	jsonConnected struct {
		Socket     int    `json:"socket"`
		LocalHost  string `json:"local_host"`
		LocalPort  uint16 `json:"local_port"`
		RemoteHost string `json:"remote_host"`
		RemotePort uint16 `json:"remote_port"`
	}
	jsonTimestamp struct {
		Time     string `json:"time"`
		Timesecs int64  `json:"timesecs"`
	}
	jsonHost struct {
		Host string `json:"host"`
		Port uint16 `json:"port"`
	}
	jsonTest struct {
		Protocol      string `json:"protocol"`
		NumStreams    int    `json:"num_streams"`
		Blksize       int    `json:"blksize"`
		Omit          int64  `json:"omit"`
		Duration      number `json:"duration"`
		Bytes         int64  `json:"bytes"`
		Blocks        int64  `json:"blocks"`
		Reverse       int    `json:"reverse"`
		Tos           int    `json:"tos"`
		TargetBitrate int64  `json:"target_bitrate"`
	}
	jsonInterval struct {
		Streams    []jsonSpan `json:"streams"`
		Sum        jsonSpan   `json:"sum"`
		SumReverse *jsonSpan  `json:"sum_bidir_reverse,omitempty"`
	}
	jsonEnd struct {
		Streams            []jsonStream `json:"streams"`
		Sum                *jsonSpan    `json:"sum,omitempty"` // UDP
		SumSent            jsonSpan     `json:"sum_sent"`
		SumReceived        jsonSpan     `json:"sum_received"`
		SumReverse         *jsonSpan    `json:"sum_bidir_reverse,omitempty"`
		SumSentReverse     *jsonSpan    `json:"sum_sent_bidir_reverse,omitempty"`
		SumReceivedReverse *jsonSpan    `json:"sum_received_bidir_reverse,omitempty"`
		CPU                jsonCPU      `json:"cpu_utilization_percent"`
		SenderCongestion   string       `json:"sender_tcp_congestion,omitempty"`
		ReceiverCongestion string       `json:"receiver_tcp_congestion,omitempty"`
	}
	jsonStream struct {
		UDP      *jsonSpan `json:"udp,omitempty"`
		Sender   *jsonSpan `json:"sender,omitempty"`
		Receiver *jsonSpan `json:"receiver,omitempty"`
	}
	// jsonSpan is what passed in some time: a flow's or the sum of some.
	jsonSpan struct {
		Socket         int     `json:"socket,omitempty"`
		Start          float64 `json:"start"`
		End            float64 `json:"end"`
		Seconds        float64 `json:"seconds"`
		Bytes          int64   `json:"bytes"`
		BitsPerSecond  float64 `json:"bits_per_second"`
		*jsonSender            // TCP, of a sender
		*jsonTCPStep           // of its interval
		*jsonTCPTotal          // of its whole test
		*jsonDatagrams         // UDP, of a receiver or of both ends together
		Packets        *int64  `json:"packets,omitempty"`      // UDP
		OutOfOrder     *int64  `json:"out_of_order,omitempty"` // UDP, where this end received
		Omitted        *bool   `json:"omitted,omitempty"`
		Sender         bool    `json:"sender"`
	}
	jsonSender struct {
		Retransmits int64 `json:"retransmits"`
	}
	jsonTCPStep struct {
		SndCwnd int64 `json:"snd_cwnd"` // bytes
		SndWnd  int64 `json:"snd_wnd"`  // bytes
		RTT     int64 `json:"rtt"`      // us
		RTTVar  int64 `json:"rttvar"`   // us
		PMTU    int64 `json:"pmtu"`     // bytes
	}
	jsonTCPTotal struct {
		MaxSndCwnd int64 `json:"max_snd_cwnd"`
		MaxSndWnd  int64 `json:"max_snd_wnd"`
		MaxRTT     int64 `json:"max_rtt"`
		MinRTT     int64 `json:"min_rtt"`
		MeanRTT    int64 `json:"mean_rtt"`
	}
	jsonDatagrams struct {
		JitterMS    float64 `json:"jitter_ms"`
		Lost        int64   `json:"lost_packets"`
		LostPercent float64 `json:"lost_percent"`
	}
	jsonCPU struct {
		HostTotal    float64 `json:"host_total"`
		HostUser     float64 `json:"host_user"`
		HostSystem   float64 `json:"host_system"`
		RemoteTotal  float64 `json:"remote_total"`
		RemoteUser   float64 `json:"remote_user"`
		RemoteSystem float64 `json:"remote_system"`
	}
	// jsonTare is what iperf3 has no place for. Metrics and series have the
	// names and units of a result.
	jsonTare struct {
		Metrics    map[string]float64   `json:"metrics"`
		Series     map[string][]float64 `json:"series"`
		Duplicates *int64               `json:"duplicates,omitempty"` // datagrams, where this end received
		Reordered  *int64               `json:"reordered,omitempty"`
		Skipped    int64                `json:"skipped"` // blocks that a paced sender gave up
		Warnings   []string             `json:"warnings"`
	}
)

// WriteJSON writes the outcome as iperf3 -J does, and one key more, x_tare.
// tool is what the version says; it begins with the name of the tool.
func (o Outcome) WriteJSON(w io.Writer, tool string) error {
	start, err := o.jsonStart(tool)
	if err != nil {
		return err
	}
	r := jsonReport{Start: start, Intervals: []jsonInterval{}, End: o.jsonEnd(), Tare: o.jsonTare()}
	for _, i := range o.Intervals {
		r.Intervals = append(r.Intervals, o.jsonInterval(i))
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "\t")
	if err := encoder.Encode(r); err != nil {
		return fmt.Errorf("write iperf3's JSON: %w", err)
	}
	return nil
}

func (o Outcome) jsonStart(tool string) (jsonStart, error) {
	system, err := systemInfo()
	if err != nil {
		return jsonStart{}, err
	}
	s := jsonStart{
		Connected: []jsonConnected{}, Version: tool, SystemInfo: system,
		Timestamp:    jsonTimestamp{o.Started.UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT"), o.Started.Unix()},
		ConnectingTo: jsonHost{o.Server.Addr().String(), o.Server.Port()}, Cookie: o.Cookie,
		TargetBitrate: int64(o.Test.Rate), SockBufsize: o.Test.Window, SndbufActual: o.SendBuffer, RcvbufActual: o.ReadBuffer,
	}
	p := o.Test.parameters()
	s.TestStart = jsonTest{
		Protocol: "TCP", NumStreams: o.Test.Flows, Blksize: o.Test.Size, Omit: int64(p.Omit), Duration: p.Time,
		Bytes: o.Test.Bytes, TargetBitrate: int64(o.Test.Rate),
	}
	if o.Test.UDP {
		s.TestStart.Protocol = "UDP"
	} else {
		s.MSS = o.MSS
	}
	if o.Test.Reverse {
		s.TestStart.Reverse = 1
	}
	for _, f := range o.Flows {
		s.Connected = append(s.Connected, jsonConnected{
			f.Socket, f.Local.Addr().String(), f.Local.Port(), f.Remote.Addr().String(), f.Remote.Port(),
		})
	}
	return s, nil
}

// systemInfo is what uname -a says.
func systemInfo() (string, error) {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return "", fmt.Errorf("read the system's name: %w", err)
	}
	word := unix.ByteSliceToString
	return fmt.Sprintf("%s %s %s %s %s", word(u.Sysname[:]), word(u.Nodename[:]), word(u.Release[:]), word(u.Version[:]), word(u.Machine[:])), nil
}

func (o Outcome) jsonInterval(i Interval) jsonInterval {
	out := jsonInterval{Streams: []jsonSpan{}}
	for n, sends := range o.directions() {
		sum := Step{Sends: sends}
		var flows time.Duration
		for _, s := range i.Steps {
			if s.Sends != sends {
				continue
			}
			out.Streams = append(out.Streams, o.jsonStep(i, s, true))
			sum.Bytes, sum.Retransmits = sum.Bytes+s.Bytes, sum.Retransmits+s.Retransmits
			sum.Datagrams, sum.Lost, sum.Jitter = sum.Datagrams+s.Datagrams, sum.Lost+s.Lost, sum.Jitter+s.Jitter
			flows++
		}
		sum.Jitter /= max(flows, 1)
		span := o.jsonStep(i, sum, false)
		if n == 0 {
			out.Sum = span
		} else {
			out.SumReverse = &span
		}
	}
	return out
}

// jsonStep is one flow's interval, or the sum of several.
func (o Outcome) jsonStep(i Interval, s Step, single bool) jsonSpan {
	span := newSpan(i.From, i.To, s.Bytes, s.Sends)
	span.Socket, span.Omitted = s.Socket, &i.Omitted
	switch {
	case o.Test.UDP:
		span.Packets = &s.Datagrams
		if !s.Sends {
			span.jsonDatagrams = newDatagrams(s.Jitter, s.Lost, s.Datagrams)
		}
	case s.Sends:
		span.jsonSender = &jsonSender{s.Retransmits}
		if single {
			span.jsonTCPStep = &jsonTCPStep{
				s.TCP.CongestionWindow, s.TCP.PeerWindow, s.TCP.RTT.Microseconds(), s.TCP.RTTVariance.Microseconds(), s.TCP.PathMTU,
			}
		}
	}
	return span
}

func newSpan(from, to time.Duration, bytes int64, sends bool) jsonSpan {
	return jsonSpan{
		Start: from.Seconds(), End: to.Seconds(), Seconds: (to - from).Seconds(),
		Bytes: bytes, BitsPerSecond: perSecond(bytes, to-from), Sender: sends,
	}
}

func newDatagrams(jitter time.Duration, lost, sent int64) *jsonDatagrams {
	d := &jsonDatagrams{JitterMS: jitter.Seconds() * 1e3, Lost: lost}
	if sent > 0 {
		d.LostPercent = 100 * float64(lost) / float64(sent)
	}
	return d
}
