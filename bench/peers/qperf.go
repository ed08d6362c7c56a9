package main

import (
	"regexp"
	"strconv"
)

var qperf = tool{command: "qperf", get: "apt-get install qperf", version: []string{"--version"}}

var qperfServer = server{tool: qperf, port: 19765, argv: func(call) []string { return []string{"qperf"} }}

// qperfCall asks for all digits, in bits and in units that never change.
func qperfCall(c call, size int, test string) []string {
	return []string{"qperf", c.addr, "-t", c.seconds(), "-m", strconv.Itoa(size), "-e", "9", "-ub", "-uu", test}
}

// qperfTCP is bulk data in writes of so many bytes.
func qperfTCP(write int) peer {
	return peer{tool: qperf, way: bulk(write, 1), server: qperfServer, read: readQperfTCP,
		argv: func(c call) []string { return qperfCall(c, write, "tcp_bw") }}
}

// qperfRR is round trips over "tcp" or "udp". qperf halves them and tells
// their mean only.
func qperfRR(protocol string, size int) peer {
	return peer{tool: qperf, server: qperfServer, read: readQperfRR,
		argv: func(c call) []string { return qperfCall(c, size, protocol+"_lat") }}
}

var (
	qperfBits    = regexp.MustCompile(`bw += +([\d.]+) bits/sec`)
	qperfLatency = regexp.MustCompile(`latency += +([\d.]+) ns`)
)

func readQperfTCP(out printed) (values, error) {
	bits, err := number(qperfBits, out.client)
	return values{"throughput": bits}, err
}

func readQperfRR(out printed) (values, error) {
	half, err := number(qperfLatency, out.client)
	mean := 2 * half * 1e-9
	return values{"rtt_mean": mean, "rate": 1 / mean}, err
}
