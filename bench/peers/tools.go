package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"tare/workload"
)

// The programs, as workload describes them.
var (
	iperf3     = workload.Program{Name: "iperf3", Get: "apt-get install iperf3", Version: []string{"--version"}}
	iperf      = workload.Program{Name: "iperf", Get: "apt-get install iperf", Version: []string{"--version"}} // version 2
	nuttcp     = workload.Program{Name: "nuttcp", Get: "apt-get install nuttcp", Version: []string{"-V"}}
	qperf      = workload.Program{Name: "qperf", Get: "apt-get install qperf", Version: []string{"--version"}}
	sockperf   = workload.Program{Name: "sockperf", Get: "apt-get install sockperf", Version: []string{"--version"}}
	wrk        = workload.Program{Name: "wrk", Get: "apt-get install wrk", Version: []string{"-v"}}
	ab         = workload.Program{Name: "ab", Get: "apt-get install apache2-utils", Version: []string{"-V"}}
	hey        = workload.Program{Name: "hey", Get: "apt-get install hey"} // it does not print its version
	autocannon = workload.Program{Name: "autocannon", Get: "npm install autocannon, and put it on the PATH", Version: []string{"--version"}}
	nginx      = workload.Program{Name: "nginx", Get: "apt-get install nginx-light", Version: []string{"-v"}}
)

// The servers. Those that serve once end after one client.
var (
	iperf3Server   = server{program: iperf3, port: 5201, once: true, argv: words("iperf3 -s -1 -B ADDRESS")}
	iperfTCPServer = server{program: iperf, port: 5001, argv: words("iperf -s -B ADDRESS -f k")}
	iperfUDPServer = server{program: iperf, port: 5001, argv: words("iperf -s -u -B ADDRESS")}
	nuttcpServer   = server{program: nuttcp, port: 5000, once: true, argv: words("nuttcp -1")}
	qperfServer    = server{program: qperf, port: 19765, argv: words("qperf")}
	nginxServer    = server{program: nginx, port: nginxPort, argv: words("nginx -p FOLDER -c FOLDER/" + nginxFile)}
)

// words is a command line as data. A call fills in its words in capitals.
func words(format string, values ...any) []string {
	return strings.Fields(fmt.Sprintf(format, values...))
}

// Bulk data over TCP, in writes of so many bytes.

// with is the tool with more words on its client's command line.
func (p peer) with(words ...string) peer {
	p.argv = append(slices.Clone(p.argv), words...)
	return p
}

// iperf3TCP omits its first second: it has no shorter warm-up.
func iperf3TCP(write, flows int) peer {
	return peer{
		program: iperf3, way: bulk(write, flows), server: iperf3Server, read: fromClient("iperf3", throughputWithCC),
		argv: append(words("iperf3 -c ADDRESS -t SECONDS -O 1 -l %d -J", write), parallel(flows)...),
	}
}

// iperfTCP takes the figure of its server, which is the sum of several flows.
func iperfTCP(write, flows int) peer {
	return peer{
		program: iperf, way: bulk(write, flows), server: iperfTCPServer, read: fromServer("iperf", throughput),
		argv: append(words("iperf -c ADDRESS -t FRACTION -l %d -f k", write), parallel(flows)...),
	}
}

func nuttcpTCP(write int) peer {
	return peer{
		program: nuttcp, way: bulk(write, 1), server: nuttcpServer, read: readNuttcpTCP,
		argv: words("nuttcp -TSECONDS -l%d -fparse ADDRESS", write),
	}
}

// qperfTCP asks for all digits, in bits and in units that never change.
func qperfTCP(write int) peer {
	return peer{
		program: qperf, way: bulk(write, 1), server: qperfServer, read: fromClient("qperf", throughput),
		argv: words("qperf ADDRESS -t SECONDS -m %d -e 9 -ub -uu tcp_bw", write),
	}
}

// Datagrams of so many bytes, as fast as possible.

func iperf3UDP(size int) peer {
	return peer{
		program: iperf3, server: iperf3Server, read: fromClient("iperf3", received),
		argv: words("iperf3 -c ADDRESS -t SECONDS -u -b 0 -l %d -J", size),
	}
}

// iperfUDP asks for a rate that no path carries. What counts is what the server
// reported to the client.
func iperfUDP(size int) peer {
	return peer{
		program: iperf, server: iperfUDPServer, read: fromClient("iperf", received),
		argv: words("iperf -c ADDRESS -t FRACTION -u -b 100g -l %d", size),
	}
}

func nuttcpUDP(size int) peer {
	return peer{
		program: nuttcp, server: nuttcpServer, read: readNuttcpUDP,
		argv: words("nuttcp -TSECONDS -u -Ru -l%d -fparse ADDRESS", size),
	}
}

// sockperfLead is how long a client of sockperf calibrates its clock before it
// sends.
const sockperfLead = 2100 * time.Millisecond

func sockperfUDP(size int) peer {
	return peer{
		program: sockperf, lead: sockperfLead, way: "tp", server: sockperfServer("udp"), read: readSockperfUDP,
		argv: words("sockperf tp -i ADDRESS -t SECONDS -m %d", size),
	}
}

// sockperfServer serves "tcp" or "udp".
func sockperfServer(protocol string) server {
	return server{program: sockperf, port: 11111, argv: append(words("sockperf sr -i ADDRESS"), sockperfProtocol(protocol)...)}
}

func sockperfProtocol(protocol string) []string {
	if protocol == "tcp" {
		return []string{"--tcp"}
	}
	return nil
}

// Round trips over "tcp" or "udp".

func sockperfRR(protocol string, size int) peer {
	return peer{
		program: sockperf, lead: sockperfLead, way: "pp", server: sockperfServer(protocol), read: fromClient("sockperf", roundTripTimes),
		argv: append(words("sockperf pp -i ADDRESS -t SECONDS -m %d --full-rtt", size), sockperfProtocol(protocol)...),
	}
}

func qperfRR(protocol string, size int) peer {
	return peer{
		program: qperf, server: qperfServer, read: fromClient("qperf", twice),
		argv: words("qperf ADDRESS -t SECONDS -m %d -e 9 -ub -uu %s_lat", size, protocol),
	}
}

// HTTP clients of the same nginx, on so many connections.

const connections = 10

// wrkHTTP keeps its connections, or opens one for each request.
func wrkHTTP(keep bool) peer {
	argv := words("wrk -t1 -c%d -dSECONDSs", connections)
	if !keep {
		argv = append(argv, "-H", "Connection: close")
	}
	return peer{program: wrk, server: nginxServer, read: fromClient("wrk", answered(printedRate)), argv: append(argv, "URL")}
}

// abHTTP uses HTTP/1.0: without -k the server closes. It allocates memory for
// all requests that it might do: a million a second.
func abHTTP(keep bool) peer {
	argv := words("ab -q -d -S -t SECONDS -n SECONDS000000 -c %d", connections)
	if keep {
		argv = append(argv, "-k")
	}
	return peer{program: ab, server: nginxServer, read: readAB, argv: append(argv, "URL")}
}

func heyHTTP() peer {
	return peer{program: hey, server: nginxServer, read: readHey, argv: words("hey -z WINDOW -c %d -cpus 1 URL", connections)}
}

func autocannonHTTP() peer {
	return peer{
		program: autocannon, server: nginxServer, read: fromClient("autocannon", answered(requests)),
		argv: words("autocannon -j -n -c %d -d SECONDS URL", connections),
	}
}

// bulk names a way to send bulk data: the bytes of a write, and the flows where
// there are several.
func bulk(write, flows int) string {
	way := fmt.Sprintf("%dK", write>>10)
	if flows > 1 {
		way += fmt.Sprintf(", %d flows", flows)
	}
	return way
}

// parallel are the arguments of iperf and iperf3 for several flows.
func parallel(flows int) []string {
	if flows == 1 {
		return nil
	}
	return words("-P %d", flows)
}
