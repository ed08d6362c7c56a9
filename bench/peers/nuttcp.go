package main

import (
	"regexp"
	"strconv"
)

var nuttcp = tool{command: "nuttcp", get: "apt-get install nuttcp", version: []string{"-V"}}

// nuttcpServer serves one client.
var nuttcpServer = server{tool: nuttcp, port: 5000, once: true, argv: func(call) []string {
	return []string{"nuttcp", "-1"}
}}

// nuttcpTCP is bulk data in writes of so many bytes.
func nuttcpTCP(write int) peer {
	return peer{tool: nuttcp, way: bulk(write, 1), server: nuttcpServer, read: readNuttcpTCP,
		argv: func(c call) []string {
			return []string{"nuttcp", "-T" + c.seconds(), "-l" + strconv.Itoa(write), "-fparse", c.addr}
		}}
}

// nuttcpUDP is datagrams of so many bytes at no limit.
func nuttcpUDP(size int) peer {
	return peer{tool: nuttcp, server: nuttcpServer, read: readNuttcpUDP, argv: func(c call) []string {
		return []string{"nuttcp", "-T" + c.seconds(), "-u", "-Ru", "-l" + strconv.Itoa(size), "-fparse", c.addr}
	}}
}

var (
	nuttcpRate  = regexp.MustCompile(`rate_Mbps=([\d.]+)`)
	nuttcpDrops = regexp.MustCompile(`real_seconds=([\d.]+) .*drop=(\d+) pkt=(\d+)`)
)

func readNuttcpTCP(out printed) (values, error) {
	mbits, err := number(nuttcpRate, out.client)
	return values{"throughput": mbits * 1e6}, err
}

func readNuttcpUDP(out printed) (values, error) {
	found, err := numbers(nuttcpDrops, out.client)
	if err != nil {
		return nil, err
	}
	return values{"rate": (found[2] - found[1]) / found[0]}, nil
}
