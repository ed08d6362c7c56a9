package iperf3

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
)

// number is a JSON number as iperf3 reads it: an integer, whatever notation it
// came in. iperf3 writes -1 as 2^64-1 in either notation, and takes it for
// "not known".
type number int64

const unknown number = -1

// UnmarshalJSON reads any JSON number; a bool counts as 0 or 1.
func (n *number) UnmarshalJSON(text []byte) error {
	switch string(text) {
	case "null", "false":
		*n = 0
		return nil
	case "true":
		*n = 1
		return nil
	}
	if whole, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		*n = number(whole)
		return nil
	}
	value, err := strconv.ParseFloat(string(text), 64)
	if err != nil || math.IsNaN(value) {
		return fmt.Errorf("read number: %.20q is none", text)
	}
	switch {
	case value >= math.MaxInt64:
		*n = unknown
	case value <= math.MinInt64:
		*n = math.MinInt64
	default:
		*n = number(value)
	}
	return nil
}

// given is true when it is there, as iperf3 reads it.
type given bool

// UnmarshalJSON takes all for true but false, 0 and null.
func (f *given) UnmarshalJSON(text []byte) error {
	word := string(bytes.TrimSpace(text))
	*f = word != "false" && word != "0" && word != "null"
	return nil
}

// parameters are what the client sends first: iperf_api.c, send_parameters.
type parameters struct {
	TCP             given  `json:"tcp,omitempty"`
	UDP             given  `json:"udp,omitempty"`
	SCTP            given  `json:"sctp,omitempty"`
	Omit            number `json:"omit"`       // s
	Time            number `json:"time"`       // s; 0: by num or blockcount, or without end
	Num             number `json:"num"`        // bytes of all flows
	BlockCount      number `json:"blockcount"` // blocks of all flows
	MSS             number `json:"MSS,omitempty"`
	NoDelay         given  `json:"nodelay,omitempty"`
	Parallel        number `json:"parallel"`
	Reverse         given  `json:"reverse,omitempty"`
	Bidirectional   given  `json:"bidirectional,omitempty"`
	Window          number `json:"window,omitempty"`       // bytes
	Len             number `json:"len,omitempty"`          // bytes
	Bandwidth       number `json:"bandwidth,omitempty"`    // bit/s of each flow
	FQRate          number `json:"fqrate,omitempty"`       // bit/s, paced by the kernel
	PacingTimer     number `json:"pacing_timer,omitempty"` // us
	Burst           number `json:"burst,omitempty"`        // blocks sent back to back
	TOS             number `json:"TOS,omitempty"`
	Congestion      string `json:"congestion,omitempty"`
	GetServerOutput given  `json:"get_server_output,omitempty"`
	WideCounters    number `json:"udp_counters_64bit,omitempty"`
	DontFragment    given  `json:"dont_fragment,omitempty"`
	ServerAffinity  number `json:"server_affinity,omitempty"` // a CPU; -1: none asked for
	ClientVersion   string `json:"client_version,omitempty"`
}

// parseParameters reads what a client asks for, and refuses what this server
// can't do or no iperf3 would ask for.
func parseParameters(text []byte) (parameters, error) {
	p := parameters{Parallel: 1, ServerAffinity: unknown}
	if err := json.Unmarshal(text, &p); err != nil {
		return p, refuse(errParameters, "read parameters: %w", err)
	}
	switch {
	case bool(p.SCTP):
		return p, refuse(errProtocol, "SCTP is not supported here: use TCP or UDP")
	case bool(p.TCP) == bool(p.UDP):
		return p, refuse(errProtocol, "the parameters name neither TCP nor UDP, or both")
	case p.Parallel < 1 || p.Parallel > MaxFlows:
		return p, refuse(errFlows, "%d flows: want 1 to %d", p.Parallel, MaxFlows)
	case bool(p.Reverse && p.Bidirectional):
		return p, refuse(errProtocol, "reverse and bidirectional exclude each other")
	case p.Time < 0 || p.Time > number(maxDuration/time.Second) || p.Num < 0 || p.BlockCount < 0:
		return p, refuse(errDuration, "a test of %d s, %d bytes, %d blocks", p.Time, p.Num, p.BlockCount)
	case p.Omit < 0 || p.Omit > number(maxOmit/time.Second):
		return p, refuse(errOmit, "omit %d s: want 0 to %v", p.Omit, maxOmit)
	case p.Window < 0 || p.Window > maxWindow:
		return p, refuse(errWindow, "window of %d bytes: want up to %d", p.Window, maxWindow)
	case p.Burst < 0 || p.Burst > maxBurst:
		return p, refuse(errBurst, "burst of %d: want up to %d", p.Burst, maxBurst)
	case p.TOS < 0 || p.TOS > 255:
		return p, refuse(errTOS, "TOS %d: want 0 to 255", p.TOS)
	case p.Bandwidth < 0 || p.FQRate < 0:
		return p, refuse(errTotalRate, "a rate of %d bit/s, %d bit/s", p.Bandwidth, p.FQRate)
	case p.Len < 0 || p.Len > maxBlock:
		return p, refuse(errBlock, "blocks of %d bytes: want up to %d", p.Len, maxBlock)
	}
	if err := checkSize(bool(p.UDP), int(p.Len)); err != nil {
		return p, &refusal{errDatagram, err}
	}
	return p, nil
}

// fill sets what was left to the ends: the size of a block, as both choose it.
func (p *parameters) fill(mss int) {
	switch {
	case p.Len > 0:
	case !bool(p.UDP):
		p.Len = defaultBlock
	case mss >= minDatagram && mss <= maxDatagram:
		p.Len = number(mss)
	default:
		p.Len = defaultDatagram
	}
}

// results are what each end sends after the test: iperf_api.c, send_results.
type results struct {
	CPUTotal       float64       `json:"cpu_util_total"` // percent of one CPU, of this process
	CPUUser        float64       `json:"cpu_util_user"`
	CPUSystem      float64       `json:"cpu_util_system"`
	HasRetransmits number        `json:"sender_has_retransmits"` // 1, 0; -1 at a receiver
	Congestion     string        `json:"congestion_used,omitempty"`
	ServerOutput   string        `json:"server_output_text,omitempty"`
	Streams        []flowResults `json:"streams"`
}

// flowResults are one flow's: what it sent, or what it received. Bytes leave
// out the omitted time. Errors and Packets hold it, unless the second pair,
// which 3.12 does not know, is how much of them is from that time.
type flowResults struct {
	ID             number  `json:"id"`
	Bytes          number  `json:"bytes"`
	Retransmits    number  `json:"retransmits"`
	Jitter         float64 `json:"jitter"` // s
	Errors         number  `json:"errors"` // datagrams that a receiver misses
	OmittedErrors  *number `json:"omitted_errors,omitempty"`
	Packets        number  `json:"packets"` // datagrams sent, or the highest number received
	OmittedPackets *number `json:"omitted_packets,omitempty"`
	StartTime      float64 `json:"start_time"`
	EndTime        float64 `json:"end_time"` // s
}

// parseResults reads the results of the other end for the flows of these
// numbers, and returns them in that order.
func parseResults(text []byte, ids []int) (results, error) {
	var r results
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("read results: %w", err)
	}
	if len(r.Streams) != len(ids) {
		return r, fmt.Errorf("read results: %d flows where the test had %d", len(r.Streams), len(ids))
	}
	byID := make(map[number]flowResults, len(ids))
	for _, f := range r.Streams {
		switch {
		case f.Bytes < 0 || f.Bytes > mostCount || f.Jitter < 0 || f.Jitter > maxDuration.Seconds():
			return r, fmt.Errorf("read results: flow %d has %d bytes and a jitter of %g s", f.ID, f.Bytes, f.Jitter)
		case f.EndTime < f.StartTime || f.EndTime-f.StartTime > (maxDuration+maxOmit).Seconds():
			return r, fmt.Errorf("read results: flow %d went on from %g s to %g s", f.ID, f.StartTime, f.EndTime)
		}
		byID[f.ID] = f.clamped()
	}
	for i, id := range ids {
		f, ok := byID[number(id)]
		if !ok {
			return r, fmt.Errorf("read results: no flow %d", id)
		}
		r.Streams[i] = f
	}
	if r.CPUTotal < 0 || r.CPUUser < 0 || r.CPUSystem < 0 {
		return r, errors.New("read results: a negative CPU time")
	}
	return r, nil
}

// mostCount is more than a test can carry, and far from an overflow.
const mostCount number = 1 << 53

// clamped takes counts that can't be, which iperf3 is known to send, to the
// nearest that can.
func (f flowResults) clamped() flowResults {
	clamp := func(n number) number { return min(max(n, 0), mostCount) }
	f.Errors, f.Packets = clamp(f.Errors), clamp(f.Packets)
	f.Retransmits = min(max(f.Retransmits, unknown), mostCount)
	if f.OmittedErrors != nil && f.OmittedPackets != nil {
		errors, packets := clamp(*f.OmittedErrors), clamp(*f.OmittedPackets)
		f.OmittedErrors, f.OmittedPackets = &errors, &packets
	}
	return f
}

// flowIDs are iperf3's numbers of so many flows: 1, 3, 4... The gap is in the
// protocol, since both ends count alike (iperf_add_stream).
func flowIDs(flows int) []int {
	ids := make([]int, flows)
	for i := range ids {
		ids[i] = i + 2
	}
	ids[0] = 1
	return ids
}
