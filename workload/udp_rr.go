package workload

import "tare/traffic/udp"

// udpRR is a closed loop of requests and responses over UDP.
func udpRR() Workload {
	return Workload{
		Serve: serving(Run.requestResponse, listenUDP, udp.ServeRR, answered),
		Send:  sending(Run.requestResponse, udp.CallRR, called),
	}
}
