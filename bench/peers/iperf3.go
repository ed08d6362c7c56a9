package main

import (
	"encoding/json"
	"errors"
	"strconv"
)

var iperf3 = tool{command: "iperf3", get: "apt-get install iperf3", version: []string{"--version"}}

// iperf3Server serves one client.
var iperf3Server = server{tool: iperf3, port: 5201, once: true, argv: func(c call) []string {
	return []string{"iperf3", "-s", "-1", "-B", c.addr}
}}

// iperf3TCP is bulk data in writes of so many bytes. The first second is
// omitted: iperf3 knows no shorter warm-up.
func iperf3TCP(write, flows int) peer {
	return peer{tool: iperf3, way: bulk(write, flows), server: iperf3Server, read: readIperf3TCP,
		argv: func(c call) []string {
			argv := []string{"iperf3", "-c", c.addr, "-t", c.seconds(), "-O", "1", "-l", strconv.Itoa(write), "-J"}
			return append(argv, parallel(flows)...)
		}}
}

// iperf3UDP is datagrams of so many bytes at no limit.
func iperf3UDP(size int) peer {
	return peer{tool: iperf3, server: iperf3Server, read: readIperf3UDP, argv: func(c call) []string {
		return []string{"iperf3", "-c", c.addr, "-t", c.seconds(), "-u", "-b", "0", "-l", strconv.Itoa(size), "-J"}
	}}
}

// iperf3Result is the part of iperf3's JSON that is read.
type iperf3Result struct {
	Error string `json:"error"`
	End   struct {
		Received struct {
			Seconds       float64 `json:"seconds"`
			BitsPerSecond float64 `json:"bits_per_second"`
			Packets       float64 `json:"packets"` // the highest number seen
			Lost          float64 `json:"lost_packets"`
		} `json:"sum_received"`
		Congestion string `json:"sender_tcp_congestion"`
	} `json:"end"`
}

func parseIperf3(out printed) (iperf3Result, error) {
	var r iperf3Result
	if err := json.Unmarshal(out.client, &r); err != nil {
		return r, err
	}
	if r.Error != "" { // it ends with status 0
		return r, errors.New(r.Error)
	}
	return r, nil
}

func readIperf3TCP(out printed) (values, error) {
	r, err := parseIperf3(out)
	if err != nil {
		return nil, err
	}
	if r.End.Congestion != congestion {
		return nil, errors.New("it sent with " + r.End.Congestion + ", not with " + congestion)
	}
	return values{"throughput": r.End.Received.BitsPerSecond}, nil
}

func readIperf3UDP(out printed) (values, error) {
	r, err := parseIperf3(out)
	if err != nil {
		return nil, err
	}
	got := r.End.Received
	if got.Seconds <= 0 {
		return nil, errors.New("no time at the receiver")
	}
	return values{"rate": (got.Packets - got.Lost) / got.Seconds}, nil
}
