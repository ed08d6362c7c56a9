package workload

import "tare/traffic"

// tcpRR is a closed loop of requests and responses over TCP.
func tcpRR() Workload {
	return Workload{
		Serve: serving(Run.requestResponse, listenTCP, traffic.ServeTCPRR, answered),
		Send:  sending(Run.requestResponse, traffic.CallTCPRR, called),
	}
}
