package result_test

import (
	"strings"
	"testing"

	"tare/result"
	"tare/test/labtest"
)

// A mesh whose numbers lead nowhere is refused, whoever wrote it.
func TestMeshesWithNumbersBeyondTheirListsAreRefused(t *testing.T) {
	for mesh, want := range map[string]string{
		`{"nodes": [{"name": "a"}, {"name": "b"}], "rounds": [{"clients": [0], "servers": [1], "values": {"rtt_p50": [1e-5]}}]}`: "",
		`{"nodes": [{"name": "a"}], "rounds": [{"round": 3, "clients": [0], "servers": [1]}]}`:                                   "round 3 of its mesh: node 1 of 1",
		`{"nodes": [{"name": "a"}], "incast": {"rounds": [{"clients": [-1], "servers": [0]}]}}`:                                  "node -1 of 1",
		`{"nodes": [{"name": "a"}], "rounds": [{"clients": [0], "servers": []}]}`:                                                "1 clients and 0 servers",
		`{"nodes": [{"name": "a"}], "rounds": [{"clients": [0], "servers": [0], "values": {"rtt_p50": []}}]}`:                    "1 pairs and 0 values of rtt_p50",
		`{"nodes": [{"name": "a"}], "rounds": [{"failures": [{"reason": "gone", "pairs": [0]}]}]}`:                               "pair 0 of 0 failed",
		`{"nodes": [{"name": "a"}], "rounds": [{"check": {"suspect": [0], "partners": [7]}}]}`:                                   "node 7 of 1",
		`{"effects": [{"kind": "node", "of": []}]}`:                                                                              "has to be of one",
	} {
		_, err := result.Read(strings.NewReader(`{"schema": "` + result.Schema + `", "mesh": ` + mesh + `}`))
		if want == "" {
			labtest.Equal(t, "error", err, error(nil))
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", mesh, err, want)
		}
	}
}
