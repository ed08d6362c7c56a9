package workload

import "tare/traffic/tls"

// tlsConnections is connections of TLS 1.3: their handshakes, or a stream on lasting ones. It takes no
// turns in slots: a few handshakes fill one, and that which is under way at its edge delays it.
func tlsConnections() Workload {
	return Workload{
		Serve: serving(Run.tls, listenTCP, bounded(tls.Serve), answered),
		Send:  sending(Run.tls, bounded(tls.Call), exchanged(string(tls.Bulk))),
	}
}

// tls is the run as the engine knows it.
func (r Run) tls() (tls.Options, error) {
	token, err := r.token()
	return tls.Options{Window: r.window(), Mode: tls.Mode(r.Mode), Token: token, Flows: r.Flows, Size: r.Size}, err
}
