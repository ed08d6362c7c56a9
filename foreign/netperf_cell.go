package foreign

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"tare/result"
)

// test is the protocol and the kind of the test, empty where the text does not say them.
func (run *netperfRun) test() (protocol, kind string) {
	asked, _ := run.command.flag("-t", "")
	protocol, name, _ := strings.Cut(asked, "_")
	if run.head != nil {
		protocol, name = run.head[0], run.head[1]
	}
	if strings.EqualFold(protocol, "omni") {
		protocol = ""
	}
	protocol, name = cmp.Or(run.values["PROTOCOL"], protocol), cmp.Or(run.values["DIRECTION"], name)
	return strings.ToLower(protocol), netperfKinds()[name]
}

// cells makes the run a cell.
func (run *netperfRun) cells() []result.Cell {
	if run.head == nil && len(run.values) == 0 && len(run.failures) == 0 {
		return nil
	}
	protocol, kind := run.test()
	if run.values["THROUGHPUT_UNITS"] == "" { // -k prints none that was not asked for
		format, _ := run.command.flag("-f", "")
		run.values["THROUGHPUT_UNITS"] = map[string]string{"k": "10^3bits/s", "m": "10^6bits/s", "g": "10^9bits/s"}[format]
	}
	var b *builder
	switch kind {
	case "stream", "reverse":
		b = newStream("netperf", protocol)
		if !run.assumed {
			b.param("direction", map[string]string{"stream": forward, "reverse": reverse}[kind])
		}
		b.known("size", int(run.number("LOCAL_SEND_SIZE")+run.number("REMOTE_SEND_SIZE")))
		b.known("cc", run.values["LOCAL_CONG_CONTROL"])
		run.stream(b)
	default:
		b = newPair("netperf", strings.TrimLeft(protocol+"_"+kind, "_"))
		b.known("size", int(run.number("REQUEST_SIZE")))
		run.pair(b, kind)
	}
	b.param("side", client)
	b.param("flows", 1)
	b.known("duration", run.number("ELAPSED_TIME"))
	if v, ok := run.value("THROUGHPUT_CONFID"); ok && v > 0 {
		b.counter("confidence_width", v/100)
	}
	if run.unsure {
		b.warn("the confidence that was asked for was not reached")
	}
	rows := 1
	if protocol == "udp" && kind == "stream" { // the sender's and the receiver's
		rows = 2
	}
	if run.bare && run.rows > rows {
		b.warn("the command has the rows of several runs below it, of which one is read: give each its command")
	}
	if len(b.cell.Metrics) > 0 {
		if protocol == "" || kind == "" {
			b.warn("the name of the test, or its protocol, is missing")
		}
		return []result.Cell{b.done()}
	}
	b.fail(strings.Join(run.failures, "; "))
	if b.cell.Status == result.StatusOK {
		b.warn("no figures: the text breaks off before them, or is a table of columns that were chosen (-O): give those of -k")
	}
	return []result.Cell{b.done()}
}

// value is what is called so, where it was measured: netperf writes -1 for what was not.
func (run *netperfRun) value(name string) (float64, bool) {
	return parseNumber(run.values[name])
}

func (run *netperfRun) number(name string) float64 {
	v, _ := run.value(name)
	return v
}

// bits is a throughput in bit/s.
func (run *netperfRun) bits(name string) (float64, bool) {
	v, ok := run.value(name)
	factor, known := netperfFactor(run.values["THROUGHPUT_UNITS"])
	return v * factor, ok && known
}

// stream notes what the receiver got.
func (run *netperfRun) stream(b *builder) {
	if v, ok := run.bits("REMOTE_RECV_THROUGHPUT"); ok && (v > 0 || b.cell.Workload == "udp_stream") {
		b.metric("throughput", v)
	}
	if v, ok := run.bits("THROUGHPUT"); ok {
		b.metric("throughput", v)
	}
	if v, ok := run.bits("LOCAL_SEND_THROUGHPUT"); ok && v > 0 {
		b.counter("throughput_sent", v)
	}
	for _, pair := range [][2]string{{"LOCAL_SEND_CALLS", "REMOTE_RECV_CALLS"}, {"LOCAL_BYTES_SENT", "REMOTE_BYTES_RECVD"}} {
		sent, received := run.number(pair[0]), run.number(pair[1])
		if _, known := run.value(pair[1]); known && sent > 0 && received <= sent && b.cell.Workload == "udp_stream" {
			b.metric("loss", 1-received/sent)
		}
	}
	if v, ok := run.value("FAILED_SENDS"); ok && v > 0 {
		b.counter("failed_sends", v)
	}
	if v, ok := run.value("LOCAL_TRANSPORT_RETRANS"); ok {
		b.metric("retransmits", v)
	}
	if factor, ok := netperfFactor(run.unit); ok {
		run.intervals(b, "throughput", factor)
	}
}

// intervals notes what -D printed between, whose mean is all that there is of a run that was cut.
func (run *netperfRun) intervals(b *builder, name string, factor float64) {
	var points []float64
	sum := 0.0
	for _, v := range run.interim {
		points, sum = append(points, v*factor), sum+v*factor
	}
	b.series(name, points)
	if len(points) > 0 {
		b.metric(name, sum/float64(len(points)), fmt.Sprintf("no summary: the mean of %d intervals", len(points)))
	}
}

// pair notes transactions and their times, which for crr and cc are those of connections too.
func (run *netperfRun) pair(b *builder, kind string) {
	rate := run.rate(b)
	name := "rtt"
	if kind == "crr" || kind == "cc" {
		name = "latency"
	}
	for of, metric := range map[string]string{"P50_LATENCY": "_p50", "P90_LATENCY": "_p90", "P99_LATENCY": "_p99", "MEAN_LATENCY": "_mean"} {
		if v, ok := run.value(of); ok && v > 0 {
			b.metric(name+metric, seconds(v, time.Microsecond))
		}
	}
	for of, counter := range map[string]string{"MIN_LATENCY": "_min", "MAX_LATENCY": "_max", "STDDEV_LATENCY": "_stdev"} {
		if v, ok := run.value(of); ok {
			b.counter(name+counter, seconds(v, time.Microsecond))
		}
	}
	if v, ok := run.value("RT_LATENCY"); ok && v > 0 {
		b.metric(name+"_mean", seconds(v, time.Microsecond))
	}
	if more := count(cmp.Or(run.values["BURST_SIZE"], run.burst)); more > 0 {
		b.param("pipelining", 1+int(more))
	} else if rate > 0 && kind != "" {
		b.metric(name+"_mean", 1/rate, "one over the rate: one request is under way at a time")
	}
}

// rate notes transactions per second.
func (run *netperfRun) rate(b *builder) float64 {
	bits, isBits := run.bits("THROUGHPUT")
	size := run.number("REQUEST_SIZE") + run.number("RESPONSE_SIZE")
	switch rate, ok := run.value("TRANSACTION_RATE"); {
	case ok && rate > 0:
		b.metric("rate", rate)
	case isBits && size > 0:
		b.metric("rate", bits/8/size, "the bytes of both directions over those of a request and its response")
	case !isBits && run.number("THROUGHPUT") > 0:
		b.metric("rate", run.number("THROUGHPUT"))
	case !isBits && run.values["THROUGHPUT"] != "":
		b.fail("no transaction was answered")
	}
	if strings.HasPrefix(run.unit, "Trans") {
		run.intervals(b, "rate", 1)
	}
	return b.sample.Metrics["rate"]
}
