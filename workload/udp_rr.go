package workload

import "tare/traffic"

// udpRR is a closed loop of requests and responses over UDP.
func udpRR() Workload {
	return Workload{
		Serve: serving(Run.requestResponse, listenUDP, traffic.ServeUDPRR, answered),
		Send:  sending(Run.requestResponse, traffic.CallUDPRR, called),
	}
}
