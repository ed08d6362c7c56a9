package foreign

import (
	"fmt"
	"strconv"
	"strings"
)

// netperfNames are the values of netperf that are read: how -k calls them, and how the head
// of its CSV does (set_output_elt in nettest_omni.c). The last are of the classic tests.
func netperfNames() map[string]string {
	return map[string]string{
		"THROUGHPUT": "Throughput", "THROUGHPUT_UNITS": "Throughput Units", "ELAPSED_TIME": "Elapsed Time (sec)",
		"PROTOCOL": "Protocol", "DIRECTION": "Direction", "BURST_SIZE": "Initial Burst Requests",
		"REQUEST_SIZE": "Request Size Bytes", "RESPONSE_SIZE": "Response Size Bytes",
		"LOCAL_SEND_SIZE": "Local Send Size", "REMOTE_SEND_SIZE": "Remote Send Size",
		"LOCAL_SEND_THROUGHPUT": "Local Send Throughput", "REMOTE_RECV_THROUGHPUT": "Remote Recv Throughput",
		"LOCAL_SEND_CALLS": "Local Send Calls", "REMOTE_RECV_CALLS": "Remote Recv Calls",
		"LOCAL_BYTES_SENT": "Local Bytes Sent", "REMOTE_BYTES_RECVD": "Remote Bytes Received",
		"LOCAL_TRANSPORT_RETRANS": "Local Transport Retransmissions", "REMOTE_TRANSPORT_RETRANS": "Remote Transport Retransmissions",
		"LOCAL_CONG_CONTROL": "Local Congestion Control Algorithm", "THROUGHPUT_CONFID": "Throughput Confidence Width (%)",
		"TRANSACTION_RATE": "Transaction Rate Tran/s", "RT_LATENCY": "Round Trip Latency usec/tran",
		"MIN_LATENCY": "Minimum Latency Microseconds", "MEAN_LATENCY": "Mean Latency Microseconds", "MAX_LATENCY": "Maximum Latency Microseconds",
		"P50_LATENCY": "50th Percentile Latency Microseconds", "P90_LATENCY": "90th Percentile Latency Microseconds",
		"P99_LATENCY": "99th Percentile Latency Microseconds", "STDDEV_LATENCY": "Stddev Latency Microseconds",
		"FAILED_SENDS": "",
	}
}

// netperfColumns are the names of the values below a head of CSV, "" for one that is not read;
// nil where the line is none.
func netperfColumns(line string) []string {
	if !strings.Contains(line, "Throughput") && !strings.Contains(line, "Latency") && !strings.Contains(line, "Elapsed Time") {
		return nil // as most lines: quick
	}
	known := 0
	var columns []string
	for _, head := range strings.Split(line, ",") {
		column := ""
		for name, text := range netperfNames() {
			if text != "" && text == strings.Join(strings.Fields(head), " ") {
				column = name
				known++
			}
		}
		columns = append(columns, column)
	}
	if known == 0 {
		return nil
	}
	return columns
}

// netperfTable reports whether the first of the lines is such a head: of one column it is where a number comes next.
func netperfTable(ahead []string) bool {
	columns := netperfColumns(ahead[0])
	if len(columns) != 1 {
		return columns != nil
	}
	_, isNumber := parseNumber(strings.TrimSpace(ahead[min(1, len(ahead)-1)]))
	return isNumber
}

// netperfKinds are what netperf calls its tests, by their workload: in heads, and as DIRECTION.
func netperfKinds() map[string]string {
	return map[string]string{
		"STREAM": "stream", "SENDFILE": "stream", "UNIDIRECTIONAL SEND": "stream", "Send": "stream",
		"MAERTS": "reverse", "Receive": "reverse",
		"REQUEST/RESPONSE": "rr", "RR": "rr", "Send|Recv": "rr",
		"Connect/Request/Response": "crr", "CRR": "crr", "Connect|Send|Recv": "crr",
		"Connect/Close": "cc", "CC": "cc", "Connection": "cc",
	}
}

// netperfFactor is how many bit/s a unit of netperf is: its K is 1024 of bytes, and 1000 of bits (-f).
func netperfFactor(unit string) (float64, bool) {
	text := strings.TrimSuffix(unit, "/s")
	if power, isBits := strings.CutSuffix(text, "bits"); isBits {
		zeros, err := strconv.Atoi(strings.TrimPrefix(power, "10^"))
		factor, ok := parseNumber(fmt.Sprintf("1e%d", zeros))
		return factor, ok && err == nil
	}
	prefix, isBytes := strings.CutSuffix(text, "Bytes")
	return 8 * kibi(prefix), isBytes
}
