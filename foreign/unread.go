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

// toolsNotRead are the tools whose output is named and not read, by their names.
func toolsNotRead() []notRead {
	all := slices.Concat(networkToolsNotRead(), loadToolsNotRead())
	slices.SortFunc(all, func(a, b notRead) int { return strings.Compare(a.tool, b.tool) })
	return all
}

// networkToolsNotRead measure networks, or a machine.
func networkToolsNotRead() []notRead {
	return []notRead{
		{"arping", []string{"ARPING "}, ""},
		{"bwping", []string{"bwping: ", "Starting transmission of "}, ""},
		{"cilium connectivity perf", []string{"Network Performance Test Summary", "📋 Scenario"}, ""},
		{"cyclictest", []string{"/dev/cpu_dma_latency set", " Act: "}, ""},
		{"dd", []string{" bytes) copied, ", "iB) copied, "}, ""},
		{"ethr", []string{"Ethr: Comprehensive", "[ ID]   Protocol    Interval      Bits/s"}, ""},
		{"flent", []string{" test run from 20", "# data pts"}, ""},
		{"flowgrind", []string{"# ID   begin     end   throughput", "flowgrind-"}, ""},
		{"fping", []string{"xmt/rcv/%loss"}, ""},
		{"hping3", []string{"HPING ", "hping statistic"}, ""},
		{"hackbench", []string{"Each sender will pass "}, ""},
		{"httping", []string{" connects, ", "PING http"}, ""},
		{"k8s-netperf", []string{"RESULT TYPE", "k8s-netperf"}, ""},
		{"knb", []string{"Pod to Service ", "Pod to pod ", "Generator       : knb"}, ""},
		{"lagscope", []string{"Number of successful Pings:", "lagscope ", "Latency(us)", "Ping statistics for "}, ""},
		{"lmbench", []string{"L M B E N C H", " latency using ", " bandwidth using ", "Simple syscall:"}, ""},
		{"mtr", []string{"Loss%   Snt", "My traceroute", "Mtr_Version,", `"mtr": {`, `"mtr":{"src"`}, ""},
		{"neper", []string{"correlation_coefficient=", "num_transactions=", "throughput_units="}, ""},
		{"nping", []string{"Starting Nping ", "Nping done: ", "Raw packets sent: "}, ""},
		{"ntttcp", []string{"NTTTCP for Linux", "NTTTCP: ", "throughput(Gbps)", "cycles/byte", "Avg B / Compl", "Bytes(MEG)", "<ntttcp"}, ""},
		{"nuttcp", []string{" %TX ", "nuttcp-t: ", "nuttcp-r: ", " msRTT", " rate_Mbps="}, ""},
		{"oping", []string{"RTT[ms]: min = "}, ""},
		{"owping", []string{" owping statistics from ", "one-way jitter = "}, ""},
		{"perf bench", []string{"usecs/op", "Running 'sched/", "Running 'mem/"}, ""},
		{"perf-tests", []string{", Maximum, 96, "}, ""},
		{"perftest", []string{"#bytes ", "BW average[", "t_typical[usec]", "_Write BW Test", "RDMA_"}, ""},
		{"ping of Windows", []string{"Ping statistics for ", "Approximate round trip times", " bytes=32 time"}, ""},
		{"pktgen", []string{"Result: OK: "}, ""},
		{"pscheduler", []string{"No further runs scheduled", "Receiver Throughput", "Current Window"}, ""},
		{"psping", []string{"PsPing v"}, ""},
		{"speedtest", []string{"Testing download speed", "Speedtest by Ookla"}, ""},
		{"tcpkali", []string{"Aggregate bandwidth:", "Packet rate estimate:"}, ""},
		{"TRex", []string{"-Per port stats", " opackets ", "Platform_factor", "Total-PPS "}, ""},
		{"trafgen", []string{" packets outgoing"}, ""},
		{"traceroute", []string{" hops max"}, ""},
		{"twping", []string{" twping statistics from ", "two-way jitter = "}, ""},
		{"uperf", []string{"running profile:", "Master connections", "Txn1 ", "trigger_uperf", " nr_bytes:"}, ""},
	}
}

// loadToolsNotRead load servers of applications.
func loadToolsNotRead() []notRead {
	return []notRead{
		{"ab", []string{"This is ApacheBench", "Requests per second:", "Time per request:", "Percentage of the requests served within", "Percentage served,Time in ms", "starttime seconds ctime"}, ""},
		{"artillery", []string{"All VUs finished", "http.response_time:", "vusers.completed:", `"http.response_time":`, "Scenarios launched:", `"scenariosCreated":`}, ""},
		{"bombardier", []string{"Bombarding http", "Reqs/sec ", "HTTP codes:", "1xx - ", `"numberOfConnections":`, `"timeTakenSeconds":`}, ""},
		{"bucketbench", []string{"SUMMARY TIMINGS/THREAD RATES", "Iter/Thd"}, ""},
		{"curl", []string{"% Total    % Received % Xferd", "time_starttransfer", "time_namelookup"}, ""},
		{"dnsperf", []string{"DNS Performance Testing Tool", "Queries sent:", "Queries completed:", "Queries per second:"}, ""},
		{"drill", []string{"Median time per request", "Sample standard deviation"}, ""},
		{"fio", []string{": IOPS=", "clat percentiles (", "IO depths    :", "Run status group ", `"fio version"`, `"clat_ns"`, ";fio-"}, ""},
		{"fortio", []string{"queries per second, ", "Sockets used: ", "All done ", "Aggregated Function Time :", "# target ", `"DurationHistogram":`, `"ActualQPS":`}, "its JSON (fortio load -json FILE)"},
		{"gatling", []string{"---- Global Information", "mean requests/sec", "mean throughput (rps)", "response time 95th percentile"}, ""},
		{"ghz", []string{"|∎", "ghz_run,", "ghz_detail,", `"latencyDistribution":`, "Latency distribution:", "Slowest:", "Fastest:", "Response time histogram:", "Status code distribution:", "duration (ms),status,error"}, "its JSON (-O json)"},
		{"go test -bench", []string{" ns/op"}, ""},
		{"gobench", []string{"Successful requests rate:", "Network failed:"}, ""},
		{"hey", []string{"resp wait:", "req write:", "resp read:", "Latency distribution:", "Size/request:", "Slowest:", "Fastest:", "Response time histogram:", "Status code distribution:", "Details (average, fastest, slowest)", "DNS+dialup:", "DNS-lookup:", "Error distribution:", "response-time,DNS+dialup,DNS,"}, ""},
		{"httperf", []string{"Reply rate [", "Connection rate: ", "httperf --"}, ""},
		{"hyperfine", []string{"Time (mean ± σ):", `"exit_codes":`}, ""},
		{"jmeter", []string{"Creating summariser", "summary + ", "summary = ", "timeStamp,elapsed,label"}, ""},
		{"k6", []string{"http_req_", "iteration_duration", "execution: local", "vus_max", "http_reqs", `"metric":"http_`, "metric_name,timestamp,metric_value"}, "its JSON (--summary-export FILE)"},
		{"kafka-perf-test", []string{" records/sec (", "start.time, end.time, "}, ""},
		{"loadtest", []string{"Effective rps:", "totalTimeSeconds:", "meanLatencyMs:"}, ""},
		{"locust", []string{"# reqs", "# fails", "Response time percentiles (approximated)", "Requests/s,Failures/s", `"# requests"`, `"num_none_requests":`}, ""},
		{"memtier_benchmark", []string{"ALL STATS", "memtier_benchmark", "Request Latency Distribution", "[RUN #"}, "its JSON (--json-out-file FILE)"},
		{"mysqlslap", []string{"seconds to run all queries:"}, ""},
		{"nats bench", []string{"NATS Pub", "Core NATS", " stats: "}, ""},
		{"oha", []string{"Success rate:", "Size/sec:", "Response time distribution:", "DNS-lookup:\t", "DNS-lookup: ", `"requestsPerSec":`, `"latencyPercentiles":`, "Slowest:", "Fastest:", "Size/request:", "Response time histogram:", "Status code distribution:", "Details (average, fastest, slowest)", "DNS+dialup:"}, ""},
		{"pgbench", []string{"number of transactions actually processed", "scaling factor:", "latency average = ", "tps = ", "query mode: ", " tps, lat "}, ""},
		{"plow", []string{"Real-time charts is ", "Latency Percentile:"}, ""},
		{"queryperf", []string{"DNS Query Performance Testing Tool", "Parsing input file"}, ""},
		{"redis-benchmark", []string{"Latency by percentile distribution:", "(cumulative count ", "throughput summary:", "latency summary (msec):", " requests per second", " requests completed in ", "overall: rps=", `"test","rps"`, `"PING_INLINE","`, `"SET","`, `"GET","`, `"MSET (10 keys)","`, "Could not connect to Redis at"}, ""},
		{"resperf", []string{"DNS Resolution Performance Testing Tool", "Maximum throughput: "}, ""},
		{"rewrk", []string{"Transfer Rate:", "Beginning round "}, ""},
		{"siege", []string{"** SIEGE", "Transaction rate:", "Longest transaction:", `"transaction_rate":`, "The server is now under siege", "siege: could not open"}, ""},
		{"stress-ng", []string{"stress-ng: ", "bogo ops"}, ""},
		{"sysbench", []string{"File operations:", "Extra file open flags", "Running memory speed test", "Total operations:", "Operations performed:", "Doing thread subsystem", "Doing mutex performance", "Doing memory operations", `"tps": `}, "its tests of SQL and of the CPU"},
		{"tsung", []string{"stats: dump at", "stats: finish_users_count"}, ""},
		{"vegeta", []string{"[total, rate", "[total, attack, wait]", "[mean, 50", "[min, mean, 50", "[code:count]", `"status_codes":`, "%       Histogram", `"attack":"`, "Value(ms)  ", ",GET,http", ",POST,http"}, "its JSON (vegeta report -type=json)"},
		{"weighttp", []string{"weighttp - a lightweight", " millisec and "}, ""},
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

// meetOwn keeps that a line of a tool that is read is of a test of that tool that is not.
func (s *others) meetOwn(tool, line string) {
	for n, u := range s.tools {
		if u.tool == tool && slices.ContainsFunc(u.marks, func(mark string) bool { return strings.Contains(line, mark) }) {
			s.alone[n]++
		}
	}
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
