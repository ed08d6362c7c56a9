package main

import (
	"regexp"
	"strconv"
)

// iperf is version 2.
var iperf = tool{command: "iperf", get: "apt-get install iperf", version: []string{"--version"}}

// iperfTCP is bulk data in writes of so many bytes. The server's own figure
// counts, in kbit/s, its sum where there are several flows.
func iperfTCP(write, flows int) peer {
	return peer{
		tool: iperf, way: bulk(write, flows), read: readIperfTCP,
		server: server{tool: iperf, port: 5001, argv: func(c call) []string {
			return []string{"iperf", "-s", "-B", c.addr, "-f", "k"}
		}},
		argv: func(c call) []string {
			argv := []string{"iperf", "-c", c.addr, "-t", c.fraction(), "-l", strconv.Itoa(write), "-f", "k"}
			return append(argv, parallel(flows)...)
		},
	}
}

// iperfUDP is datagrams of so many bytes, as fast as they go: a rate that no
// path carries.
func iperfUDP(size int) peer {
	return peer{
		tool: iperf, read: readIperfUDP,
		server: server{tool: iperf, port: 5001, argv: func(c call) []string {
			return []string{"iperf", "-s", "-u", "-B", c.addr}
		}},
		argv: func(c call) []string {
			return []string{"iperf", "-c", c.addr, "-t", c.fraction(), "-u", "-b", "100g", "-l", strconv.Itoa(size)}
		},
	}
}

var (
	iperfKbits = regexp.MustCompile(`([\d.]+) Kbits/sec`)
	// The report that the server sent to the client: seconds, lost, all.
	iperfReport = regexp.MustCompile(`-([\d.]+) sec .* (\d+)/ *(\d+) \(`)
)

func readIperfTCP(out printed) (values, error) {
	kbits, err := number(iperfKbits, out.server)
	return values{"throughput": kbits * 1e3}, err
}

func readIperfUDP(out printed) (values, error) {
	found, err := numbers(iperfReport, out.client)
	if err != nil {
		return nil, err
	}
	return values{"rate": (found[2] - found[1]) / found[0]}, nil
}
