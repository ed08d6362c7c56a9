package workload

import "tare/traffic"

// tls is connections of TLS 1.3: their handshakes, or a stream on lasting ones. It takes no
// turns in slots: a few handshakes fill one, and that which is under way at its edge delays it.
func tls() Workload {
	return Workload{
		Serve: serving(Run.tls, listenTCP, bounded(traffic.ServeTLS), answered),
		Send:  sending(Run.tls, bounded(traffic.CallTLS), exchanged(string(traffic.TLSBulk))),
	}
}

// tls is the run as the engine knows it.
func (r Run) tls() (traffic.TLS, error) {
	token, err := r.token()
	return traffic.TLS{Window: r.window(), Mode: traffic.TLSMode(r.Mode), Token: token, Flows: r.Flows, Size: r.Size}, err
}
