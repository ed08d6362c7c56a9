package catalog

import "time"

const (
	mostBody    = 1 << 20 // bytes of a body or value
	mostClients = 1024    // connections
	slot        = 10 * time.Millisecond
	tlsRecord   = 16 << 10
)

// Prepared is the mode of mysql: statements that the server has parsed.
const Prepared = "prepared"

// applicationWorkloads are protocols of applications.
func applicationWorkloads() []Workload {
	body := Bounds{Default: 1024, Least: 1, Most: mostBody}
	exchanged := []string{"throughput", "latency_p50", "latency_p99", "cpu_per_transaction"}
	all := []Workload{
		{
			Name: "http", Called: []string{"nginx", "wrk", "hey", "ab", "autocannon", "curl"}, Doc: "requests of HTTP/1.1 and their responses, on connections that last or one each", TCP: true,
			Modes: []string{"keepalive", "close"}, Camel: "HTTP", Slot: slot, RateUnit: PerSecond, Size: body, FlowsDefault: []int{10},
			Servers: []string{"nginx"}, Tools: []string{"wrk", "autocannon"},
		},
		{
			Name: "tls", Called: []string{"https"}, Doc: "connect, handshake of TLS 1.3, one request, one response, close: handshakes per second; or a stream of data", TCP: true,
			Modes: []string{"handshake", "resume", "bulk"}, Camel: "TLS", Columns: exchanged,
			Size: body, ModeSize: map[string]int{"bulk": tlsRecord},
		},
		{
			Name: "grpc", Doc: "calls of gRPC and their responses, or messages of a server's stream, on lasting connections", TCP: true,
			Modes: []string{"unary", "stream"}, Camel: "GRPC", Slot: slot, Columns: exchanged, Size: body, SlotFlows: 1,
		},
		{
			Name: "mysql", Called: []string{"mariadb", "sysbench", "mysqlslap"}, Doc: "selects of one row by its key, on lasting connections to MariaDB", TCP: true,
			Modes: []string{Prepared}, Camel: "Mysql", Slot: slot, FlowsDefault: []int{1, 16, 64}, SlotFlows: 1,
			Servers: []string{"mariadb"}, Tools: []string{"sysbench"},
		},
		{
			Name: "redis", Called: []string{"memtier", "redis-benchmark"}, Doc: "reads or writes of one value, on lasting connections to Redis", TCP: true,
			Modes: []string{"get", "set"}, Camel: "Redis", Slot: slot, Size: body, FlowsDefault: []int{10}, Servers: []string{"redis-server"},
		},
		{
			Name: "dns", Doc: "queries for one address over UDP, from lasting or from new sockets, to unbound",
			Modes: []string{"reuse", "fresh"}, Camel: "DNS", Slot: slot, FlowsDefault: []int{10}, Servers: []string{"unbound"},
		},
	}
	for n := range all {
		w := &all[n]
		w.Headline, w.Work, w.Flows = "rate", PerTransaction, mostClients
	}
	return all
}
