package workload

import "tare/traffic"

// tls is connections of TLS 1.3: their handshakes, or a stream on lasting ones. It takes no
// turns in slots: a few handshakes fill one, and that which is under way at its edge delays it.
func tls() Workload {
	return Workload{
		Name: "tls", Doc: "connect, handshake of TLS 1.3, one request, one response, close: handshakes per second; or a stream of data", TCP: true,
		Modes: []string{string(traffic.TLSHandshake), string(traffic.TLSResume), string(traffic.TLSBulk)}, Camel: "TLS", Headline: "rate", Work: PerTransaction,
		Columns: []string{"throughput", "latency_p50", "latency_p99", "cpu_per_transaction"},
		Size:    Bounds{Default: 1024, Least: 1, Most: traffic.MaxBody}, ModeSize: map[string]int{string(traffic.TLSBulk): tlsRecord},
		Flows: 1024,
		Serve: serving(Run.tls, listenTCP, bounded(traffic.ServeTLS), answered),
		Send:  sending(Run.tls, bounded(traffic.CallTLS), exchanged(string(traffic.TLSBulk))),
	}
}

// tlsRecord is how many bytes a record of TLS carries at most (RFC 8446, 5.1).
const tlsRecord = 16 << 10

// tls is the run as the engine knows it.
func (r Run) tls() (traffic.TLS, error) {
	token, err := r.token()
	return traffic.TLS{Window: r.window(), Mode: traffic.TLSMode(r.Mode), Token: token, Flows: r.Flows, Size: r.Size}, err
}
