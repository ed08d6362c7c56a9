package workload

import "tare/traffic"

// tcpCRR opens a connection for every request.
func tcpCRR() Workload {
	return Workload{
		Serve: serving(Run.requestResponse, listenTCP, traffic.ServeTCPCRR, answered),
		Send:  sending(Run.requestResponse, traffic.CallTCPCRR, called),
	}
}
