package main

import (
	"context"
	"encoding/json"
	"io"
	"net/netip"
	"runtime"
	"runtime/debug"
)

// What a process of a contest does, as the first of its arguments; the contest and the
// server's address follow.
const (
	serveVerb = "serve"
	callVerb  = "call"
)

// turn is a process of a contest: our server, or our client as it is in an agent.
func turn(ctx context.Context, w io.Writer, verb, name, address string) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	if verb == serveVerb {
		return serveGRPC(at)
	}
	const threads = 64
	runtime.GOMAXPROCS(threads)
	debug.SetGCPercent(-1)
	call := callTLS
	if name == "grpc" {
		call = callGRPC
	}
	done, err := call(ctx, at)
	if err != nil {
		return err
	}
	all := float64(done.Count) * (warmup + done.Elapsed).Seconds() / done.Elapsed.Seconds() // CPU time is of the warm-up too
	f := figures{"count": all, "rate": done.Rate()}
	for metric, q := range map[string]float64{"latency_p50": 0.5, "latency_p99": 0.99} {
		if d, known := done.RTT.Quantile(q); known {
			f[metric] = d.Seconds()
		}
	}
	if d, known := done.RTT.Mean(); known {
		f["latency_mean"] = d.Seconds()
	}
	return json.NewEncoder(w).Encode(f)
}

// isTurn reports whether a program was started for a turn.
func isTurn(args []string) bool {
	const words = 3
	return len(args) == words && (args[0] == serveVerb || args[0] == callVerb)
}
