package main

import (
	"regexp"
	"strconv"
	"time"
)

// sockperfLead is how long a client of sockperf measures its clock before it
// sends.
const sockperfLead = 2100 * time.Millisecond

var sockperf = tool{command: "sockperf", get: "apt-get install sockperf", version: []string{"--version"}, lead: sockperfLead}

// sockperfServer serves "tcp" or "udp".
func sockperfServer(protocol string) server {
	return server{tool: sockperf, port: 11111, argv: func(c call) []string {
		return append([]string{"sockperf", "sr", "-i", c.addr}, sockperfProtocol(protocol)...)
	}}
}

func sockperfProtocol(protocol string) []string {
	if protocol == "tcp" {
		return []string{"--tcp"}
	}
	return nil
}

// sockperfUDP is datagrams of so many bytes as fast as they go.
func sockperfUDP(size int) peer {
	return peer{tool: sockperf, way: "tp", server: sockperfServer("udp"), read: readSockperfUDP,
		argv: func(c call) []string {
			return []string{"sockperf", "tp", "-i", c.addr, "-t", c.seconds(), "-m", strconv.Itoa(size)}
		}}
}

// sockperfRR is full round trips over "tcp" or "udp".
func sockperfRR(protocol string, size int) peer {
	return peer{tool: sockperf, way: "pp", server: sockperfServer(protocol), read: readSockperfRR,
		argv: func(c call) []string {
			argv := []string{"sockperf", "pp", "-i", c.addr, "-t", c.seconds(), "-m", strconv.Itoa(size), "--full-rtt"}
			return append(argv, sockperfProtocol(protocol)...)
		}}
}

var (
	sockperfHandled = regexp.MustCompile(`Total (\d+) messages received`)
	sockperfSent    = regexp.MustCompile(`messages sent in ([\d.]+) sec`)
	sockperfValid   = regexp.MustCompile(`\[Valid Duration\] RunTime=([\d.]+) sec; SentMessages=\d+; ReceivedMessages=(\d+)`)
	sockperfMean    = regexp.MustCompile(`Round trip is ([\d.]+) usec`)
	sockperfP50     = regexp.MustCompile(`percentile 50\.000 = +([\d.]+)`)
	sockperfP99     = regexp.MustCompile(`percentile 99\.000 = +([\d.]+)`)
)

// readSockperfUDP takes what the server received, all of the run: the client
// tells only what it sent.
func readSockperfUDP(out printed) (values, error) {
	received, err := number(sockperfHandled, out.server)
	if err != nil {
		return nil, err
	}
	elapsed, err := number(sockperfSent, out.client)
	return values{"rate": received / elapsed}, err
}

func readSockperfRR(out printed) (values, error) {
	valid, err := numbers(sockperfValid, out.client)
	if err != nil {
		return nil, err
	}
	v := values{"rate": valid[1] / valid[0]}
	for name, pattern := range map[string]*regexp.Regexp{
		"rtt_mean": sockperfMean, "rtt_p50": sockperfP50, "rtt_p99": sockperfP99,
	} {
		us, err := number(pattern, out.client)
		if err != nil {
			return nil, err
		}
		v[name] = us * 1e-6
	}
	return v, nil
}
