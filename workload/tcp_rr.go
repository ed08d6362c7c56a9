package workload

import "tare/traffic/tcprr"

// tcpRR is a closed loop of requests and responses over TCP.
func tcpRR() Workload {
	return Workload{
		Serve: serving(Run.requestResponse, listenTCP, tcprr.Serve, answered),
		Send:  sending(Run.requestResponse, tcprr.Call, called),
	}
}
