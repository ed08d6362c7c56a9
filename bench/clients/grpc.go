package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"tare/traffic"
	"tare/traffic/grpc"
)

// grpcProto describes the service to ghz: a message with one field of bytes is what
// google.protobuf.BytesValue is on the wire.
const grpcProto = `syntax = "proto3";
package tare;
message Bytes { bytes value = 1; }
service Messages { rpc Call(Bytes) returns (Bytes); }
`

// grpcContest has ghz and our client call the same server of grpc-go, which sends 1 KiB.
func grpcContest() contest {
	return contest{
		name: "grpc", other: "ghz", get: "go install github.com/bojand/ghz/cmd/ghz@v0.93.0",
		serve: func(at netip.AddrPort, _ string) []string {
			return []string{"/proc/" + strconv.Itoa(os.Getpid()) + "/exe", serveVerb, "grpc", at.String()}
		},
		call: func(at netip.AddrPort, dir string) []string {
			return []string{
				"ghz", "--insecure", "--proto", filepath.Join(dir, protoFile), "--call", grpc.Service + "." + grpc.Method,
				"--data", "{}", "--concurrency", "1", "--connections", "1", "--duration", "1s", "--format", "json", at.String(),
			}
		},
		read: readGhz,
	}
}

const protoFile = "messages.proto"

// serveGRPC serves any client until the process ends.
func serveGRPC(at netip.AddrPort) error {
	if err := os.WriteFile(protoFile, []byte(grpcProto), 0o600); err != nil {
		return err
	}
	l, err := net.Listen("tcp", at.String())
	if err != nil {
		return err
	}
	return grpc.NewServer(bodySize).Serve(l)
}

// ghzReport is ghz's JSON, its times in nanoseconds.
type ghzReport struct {
	Count   float64 `json:"count"`
	Average float64 `json:"average"`
	Rate    float64 `json:"rps"`
	Latency []struct {
		Percentage int     `json:"percentage"`
		Latency    float64 `json:"latency"`
	} `json:"latencyDistribution"`
	Statuses map[string]float64 `json:"statusCodeDistribution"`
}

func readGhz(printed []byte) (figures, error) {
	var r ghzReport
	if err := json.Unmarshal(printed, &r); err != nil {
		return nil, err
	}
	const cut = 2 // calls that the end of the time cuts off
	if good := r.Statuses["OK"]; good == 0 || good < r.Count-cut {
		return nil, fmt.Errorf("%.0f calls, by status %v", r.Count, r.Statuses)
	}
	f := figures{"count": r.Count, "rate": r.Rate, "latency_mean": r.Average / float64(time.Second)}
	for _, l := range r.Latency {
		f["latency_p"+strconv.Itoa(l.Percentage)] = l.Latency / float64(time.Second)
	}
	return f, nil
}

// callGRPC is our client's turn.
func callGRPC(ctx context.Context, at netip.AddrPort) (traffic.Transactions, error) {
	return grpc.Call(ctx, at, grpc.Options{Window: traffic.Window{Warmup: warmup, Duration: time.Second}})
}
