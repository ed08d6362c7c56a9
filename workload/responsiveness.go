package workload

import "tare/traffic"

// responsiveness is round trips a minute on a path that bulk data of HTTP/2 fills.
func responsiveness() Workload {
	return Workload{
		Name: "responsiveness", Doc: "new connections of TLS and requests of HTTP/2 while bulk data fills the path: round trips a minute", TCP: true,
		Modes: []string{download}, Camel: "Responsiveness", Headline: "responsiveness", Work: PerGbit,
		Columns: []string{"latency_tcp", "latency_tls", "latency_http", "latency_loaded", "throughput", "cpu_per_gbit"},
		Size:    Bounds{Default: 1, Least: 1, Most: 1}, Flows: traffic.MaxLoads, FlowsDefault: []int{4},
		Serve: serving(Run.responsiveness, listenTCP, bounded(traffic.ServeResponsiveness), answered),
		Send:  sending(Run.responsiveness, bounded(traffic.CallResponsiveness), responded),
	}
}

// download is the mode in which the server sends the load.
const download = "download"

// responsiveness is the run as the engine knows it.
func (r Run) responsiveness() (traffic.Responsiveness, error) {
	token, err := r.token()
	return traffic.Responsiveness{Token: token, Window: r.window(), Flows: r.Flows}, err
}

// responded is the client's tally.
func responded(_ Run, calls traffic.ResponsivenessCalls) Tally {
	t := Tally{Metrics: map[string]float64{}, Series: map[string][]float64{}, Counters: map[string]float64{}, CC: calls.Congestion}
	addReceived(&t, calls.Received)
	t.Metrics["responsiveness"] = calls.PerMinute()
	t.Metrics["latency_tcp"] = calls.TCP.Seconds()
	t.Metrics["latency_tls"] = calls.TLS.Seconds()
	t.Metrics["latency_http"] = calls.HTTP.Seconds()
	t.Metrics["latency_loaded"] = calls.Loaded.Seconds()
	t.Counters["probes_foreign"], t.Counters["probes_loaded"] = float64(calls.Foreign), float64(calls.OnLoad)
	if calls.Unanswered > 0 {
		t.Counters["unanswered"] = float64(calls.Unanswered)
		t.Warnings = append(t.Warnings, "unanswered: probes got no response within 2 s after the window")
	}
	return t
}
