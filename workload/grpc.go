package workload

import (
	"tare/traffic"
	"tare/traffic/grpc"
)

// grpcCalls is calls of gRPC, or messages of streams.
func grpcCalls() Workload {
	return Workload{
		Serve: serving(Run.grpc, listenTCP, bounded(grpc.Serve), answered),
		Send:  sending(Run.grpc, bounded(grpc.Call), exchanged(string(grpc.Stream))),
	}
}

// grpc is the run as the engine knows it.
func (r Run) grpc() (grpc.Options, error) {
	token, err := r.token()
	return grpc.Options{Window: r.window(), Mode: grpc.Mode(r.Mode), Token: &token, Flows: r.Flows, Size: r.Size}, err
}

// exchanged makes the client's tally of a workload whose modes are transactions, which have
// a latency, but for the one that streams, which has a throughput.
func exchanged(streams string) func(Run, traffic.Transactions) Tally {
	return func(run Run, done traffic.Transactions) Tally {
		t := fetched(run, done)
		if run.Mode == streams {
			bits := 8 * float64(run.Size)
			t.Metrics["throughput"] = done.Rate() * bits
			t.addSteps("throughput", done.Series, bits)
			addSteadiness(&t, t.Series["throughput"])
		}
		t.addFailures(done.Failures)
		return t
	}
}
