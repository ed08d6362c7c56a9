package foreign

import (
	"fmt"
	"slices"
	"strings"
)

// notRead is a tool whose output is known and not read.
type notRead struct {
	tool string
	// marks are texts in its lines, as it prints them. Some are another tool's too.
	marks []string
	// instead is what of this tool is read, empty where nothing is.
	instead string
}

// toolsNotRead are the tools whose output is named and not read.
func toolsNotRead() []notRead {
	return []notRead{
		{"ab", []string{"This is ApacheBench", "Requests per second:", "Time per request:", "Percentage of the requests served within"}, ""},
		{"bombardier", []string{"Bombarding http", "Reqs/sec ", "HTTP codes:", "1xx - "}, ""},
		{"bwping", []string{"bwping: ", "Starting transmission of "}, ""},
		{"cilium connectivity perf", []string{"Network Performance Test Summary", "📋 Scenario"}, ""},
		{"curl", []string{"% Total    % Received % Xferd"}, ""},
		{"dd", []string{" bytes) copied, ", "iB) copied, "}, ""},
		{"dnsperf", []string{"DNS Performance Testing Tool", "Queries sent:", "Queries completed:", "Queries per second:"}, ""},
		{"ethr", []string{"Ethr: Comprehensive", "[ ID]   Protocol    Interval      Bits/s"}, ""},
		{"fio", []string{"clat percentiles (", "IO depths    :", "Run status group "}, ""},
		{"flowgrind", []string{"# ID   begin     end   throughput", "flowgrind-"}, ""},
		{"fortio", []string{"queries per second, ", "Aggregated Function Time :", "# target ", `"DurationHistogram":`, `"ActualQPS":`}, "its JSON (fortio load -json FILE)"},
		{"fping", []string{"xmt/rcv/%loss"}, ""},
		{"ghz", []string{"|∎", `"latencyDistribution":`, "Latency distribution:", "Slowest:", "Fastest:", "Response time histogram:", "Status code distribution:"}, "its JSON (-O json)"},
		{"hey", []string{"resp wait:", "req write:", "resp read:", "Latency distribution:", "Size/request:", "Slowest:", "Fastest:", "Response time histogram:", "Status code distribution:", "Details (average, fastest, slowest)", "DNS+dialup:", "DNS-lookup:", "Error distribution:"}, ""},
		{"hping3", []string{"HPING ", "hping statistic"}, ""},
		{"httperf", []string{"Reply rate [", "Connection rate: ", "httperf --"}, ""},
		{"k6", []string{"http_req_duration", "iteration_duration", "execution: local", "vus_max", "http_reqs"}, "its JSON (--summary-export FILE)"},
		{"k8s-netperf", []string{"RESULT TYPE", "k8s-netperf"}, ""},
		{"knb", []string{"Pod to Service TCP", "Pod to pod TCP", "knb "}, ""},
		{"lagscope", []string{"Number of successful Pings:", "lagscope ", "Latency(us)", "Ping statistics for "}, ""},
		{"locust", []string{"# reqs", "# fails", "Response time percentiles (approximated)"}, ""},
		{"memtier_benchmark", []string{"ALL STATS", "memtier_benchmark", "Request Latency Distribution", "[RUN #"}, "its JSON (--json-out-file FILE)"},
		{"mtr", []string{"Loss%   Snt", "My traceroute"}, ""},
		{"mysqlslap", []string{"seconds to run all queries:"}, ""},
		{"ntttcp", []string{"NTTTCP for Linux", "NTTTCP: ", "throughput(Gbps)", "cycles/byte"}, ""},
		{"nuttcp", []string{" %TX ", "nuttcp-t: ", "nuttcp-r: ", " msRTT"}, ""},
		{"oha", []string{"Success rate:", "Size/sec:", "Response time distribution:", "DNS-lookup:\t", "DNS-lookup: ", `"requestsPerSec":`, `"latencyPercentiles":`, "Slowest:", "Fastest:", "Size/request:", "Response time histogram:", "Status code distribution:", "Details (average, fastest, slowest)", "DNS+dialup:"}, ""},
		{"perftest", []string{"#bytes ", "BW average[", "t_typical[usec]", "_Write BW Test", "RDMA_"}, ""},
		{"pgbench", []string{"number of transactions actually processed", "scaling factor:", "latency average = ", "tps = ", "query mode: "}, ""},
		{"pktgen", []string{"Result: OK: "}, ""},
		{"psping", []string{"PsPing v"}, ""},
		{"redis-benchmark", []string{"====== ", "Latency by percentile distribution:", "(cumulative count ", "throughput summary:", "latency summary (msec):", " requests per second", " requests completed in ", "overall: rps="}, ""},
		{"rewrk", []string{"Transfer Rate:", "Beginning round "}, ""},
		{"siege", []string{"** SIEGE", "Transaction rate:", "Longest transaction:"}, ""},
		{"speedtest", []string{"Testing download speed", "Speedtest by Ookla"}, ""},
		{"tcpkali", []string{"Aggregate bandwidth:", "Packet rate estimate:"}, ""},
		{"traceroute", []string{" hops max"}, ""},
		{"uperf", []string{"running profile:", "Master connections", "Txn1 "}, ""},
		{"vegeta", []string{"[total, rate", "[total, attack, wait]", "[mean, 50", "[min, mean, 50", "[code:count]", `"status_codes":`}, "its JSON (vegeta report -type=json)"},
		{"ycsb", []string{"[OVERALL], "}, ""},
	}
}

// others are the lines of tools that are not read, in one text.
type others struct {
	tools []notRead
	alone []int // of each tool, lines that show no other
	also  []int // and lines that others print too
}

func newOthers() *others {
	tools := toolsNotRead()
	return &others{tools, make([]int, len(tools)), make([]int, len(tools))}
}

// meet reports whether a line is of one of them, and keeps whose it may be.
func (s *others) meet(line string) bool {
	var whose []int
	for n, u := range s.tools {
		if slices.ContainsFunc(u.marks, func(mark string) bool { return strings.Contains(line, mark) }) {
			whose = append(whose, n)
		}
	}
	for _, n := range whose {
		s.also[n]++
		if len(whose) == 1 {
			s.alone[n]++
		}
	}
	return len(whose) > 0
}

// names says whose output was met: "hey's output, which tare does not read". It is empty
// where none was.
func (s *others) names() string {
	shown, between := s.alone, " and "
	if slices.Max(shown) == 0 {
		shown, between = s.also, " or "
	}
	var names, instead []string
	for n, u := range s.tools {
		if shown[n] == 0 {
			continue
		}
		names = append(names, u.tool+"'s")
		if u.instead != "" {
			instead = append(instead, "of "+u.tool+" it reads "+u.instead)
		}
	}
	if names == nil {
		return ""
	}
	text := fmt.Sprintf("%s output, which tare does not read", strings.Join(names, between))
	return strings.Join(append([]string{text}, instead...), "; ")
}
