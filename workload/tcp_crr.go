package workload

import "tare/traffic/tcpcrr"

// tcpCRR opens a connection for every request.
func tcpCRR() Workload {
	return Workload{
		Serve: serving(Run.requestResponse, listenTCP, tcpcrr.Serve, answered),
		Send:  sending(Run.requestResponse, tcpcrr.Call, called),
	}
}
