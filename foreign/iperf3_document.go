package foreign

import "encoding/json"

// Iperf3Document is the JSON of iperf3 -J, and what the events of --json-stream
// add up to. It is the only model of that JSON: this package reads it, packages
// iperf3 and report write it.
//
// Names and order are those of iperf_api.c and iperf_print_* of iperf3 3.12. A
// pointer is nil where the version, the protocol or the direction has no such
// value. Rates are bit/s of payload; times are s unless noted.
// Counts are float64, because iperf3 writes an unknown one as 2^64-1.
type Iperf3Document struct {
	Start      *Iperf3Start     `json:"start"`
	Intervals  []Iperf3Interval `json:"intervals"`
	End        Iperf3End        `json:"end"`
	Error      string           `json:"error,omitempty"`
	Server     json.RawMessage  `json:"server_output_json,omitempty"` // the server's document
	ServerText string           `json:"server_output_text,omitempty"` // or the server's text
	Tare       any              `json:"x_tare,omitempty"`             // what only tare writes
}

// Iperf3Start is what is known before the first byte.
type Iperf3Start struct {
	Connected     []Iperf3Connection `json:"connected"`
	Version       string             `json:"version"`
	SystemInfo    string             `json:"system_info"`
	Timestamp     Iperf3Time         `json:"timestamp"`
	ConnectingTo  *Iperf3Host        `json:"connecting_to,omitempty"`       // of a client
	Accepted      *Iperf3Host        `json:"accepted_connection,omitempty"` // of a server
	Cookie        string             `json:"cookie,omitempty"`
	MSS           int                `json:"tcp_mss_default,omitempty"` // bytes
	TargetBitrate *float64           `json:"target_bitrate,omitempty"`
	SockBufsize   *float64           `json:"sock_bufsize,omitempty"` // bytes
	SndbufActual  *float64           `json:"sndbuf_actual,omitempty"`
	RcvbufActual  *float64           `json:"rcvbuf_actual,omitempty"`
	Test          Iperf3Test         `json:"test_start"`
}

// Iperf3Connection is one data connection.
type Iperf3Connection struct {
	Socket     int    `json:"socket"`
	LocalHost  string `json:"local_host"`
	LocalPort  uint16 `json:"local_port"`
	RemoteHost string `json:"remote_host"`
	RemotePort uint16 `json:"remote_port"`
}

// Iperf3Time is when the test started.
type Iperf3Time struct {
	Time    string  `json:"time"`
	Seconds float64 `json:"timesecs"` // since 1970
}

// Iperf3Host is one end of the control connection.
type Iperf3Host struct {
	Host string `json:"host"`
	Port uint16 `json:"port"`
}

// Iperf3Test is what the client asked for.
type Iperf3Test struct {
	Protocol string   `json:"protocol"` // "TCP" or "UDP"
	Streams  int      `json:"num_streams"`
	Size     int      `json:"blksize"` // bytes of a write or datagram
	Omit     float64  `json:"omit"`
	Duration float64  `json:"duration"`
	Bytes    float64  `json:"bytes"`
	Blocks   float64  `json:"blocks"`
	Reverse  int      `json:"reverse"`
	TOS      *float64 `json:"tos,omitempty"`
	Target   float64  `json:"target_bitrate"`  // 0: as fast as possible
	Bidir    int      `json:"bidir,omitempty"` // from 3.13 on
}

// Iperf3Interval is one step of the test.
type Iperf3Interval struct {
	Streams []Iperf3Span `json:"streams"`
	Sum     *Iperf3Span  `json:"sum,omitempty"`
	Reverse *Iperf3Span  `json:"sum_bidir_reverse,omitempty"`
}

// Iperf3End is the summary.
type Iperf3End struct {
	Streams         []Iperf3Stream `json:"streams"`
	Sum             *Iperf3Span    `json:"sum,omitempty"` // of UDP
	Sent            *Iperf3Span    `json:"sum_sent,omitempty"`
	Received        *Iperf3Span    `json:"sum_received,omitempty"`
	Reverse         *Iperf3Span    `json:"sum_bidir_reverse,omitempty"`
	SentReverse     *Iperf3Span    `json:"sum_sent_bidir_reverse,omitempty"`
	ReceivedReverse *Iperf3Span    `json:"sum_received_bidir_reverse,omitempty"`
	CPU             *Iperf3CPU     `json:"cpu_utilization_percent,omitempty"`
	SenderCC        string         `json:"sender_tcp_congestion,omitempty"`
	ReceiverCC      string         `json:"receiver_tcp_congestion,omitempty"`
}

// Iperf3Stream is one stream over the whole test: UDP, or both ends of TCP.
type Iperf3Stream struct {
	UDP      *Iperf3Span `json:"udp,omitempty"`
	Sender   *Iperf3Span `json:"sender,omitempty"`
	Receiver *Iperf3Span `json:"receiver,omitempty"`
}

// Iperf3Span is what passed in some time: in one stream, or in several.
type Iperf3Span struct {
	Socket        int      `json:"socket,omitempty"`
	Start         float64  `json:"start"`
	End           float64  `json:"end"`
	Seconds       float64  `json:"seconds"`
	Bytes         float64  `json:"bytes"`
	BitsPerSecond *float64 `json:"bits_per_second"`
	Retransmits   *float64 `json:"retransmits,omitempty"` // of a TCP sender, as the following

	// Of one TCP sender in an interval; windows and MTU in bytes, times in us.
	SndCwnd *float64 `json:"snd_cwnd,omitempty"`
	SndWnd  *float64 `json:"snd_wnd,omitempty"`
	RTT     *float64 `json:"rtt,omitempty"`
	RTTVar  *float64 `json:"rttvar,omitempty"`
	PMTU    *float64 `json:"pmtu,omitempty"`
	Reorder *float64 `json:"reorder,omitempty"` // newer versions, and over the test

	// Of one TCP sender over the test, in the same units.
	MaxSndCwnd *float64 `json:"max_snd_cwnd,omitempty"`
	MaxSndWnd  *float64 `json:"max_snd_wnd,omitempty"`
	MaxRTT     *float64 `json:"max_rtt,omitempty"`
	MinRTT     *float64 `json:"min_rtt,omitempty"`
	MeanRTT    *float64 `json:"mean_rtt,omitempty"`

	// Of UDP: of a receiver, or of both ends together.
	JitterMS    *float64 `json:"jitter_ms,omitempty"`
	Lost        *float64 `json:"lost_packets,omitempty"`
	LostPercent *float64 `json:"lost_percent,omitempty"`
	Packets     *float64 `json:"packets,omitempty"`
	OutOfOrder  *float64 `json:"out_of_order,omitempty"`

	Omitted *bool `json:"omitted,omitempty"` // of an interval: -O leaves it out
	Sender  bool  `json:"sender"`            // the writing end sent it
}

// Iperf3CPU is the CPU time of both processes, in percent of one CPU.
type Iperf3CPU struct {
	HostTotal    float64 `json:"host_total"`
	HostUser     float64 `json:"host_user"`
	HostSystem   float64 `json:"host_system"`
	RemoteTotal  float64 `json:"remote_total"`
	RemoteUser   float64 `json:"remote_user"`
	RemoteSystem float64 `json:"remote_system"`
}
