package agreement

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"tare/result"
	"tare/stats"
	"tare/test/labtest"
)

// agreements ask the same servers by a real client and by our own, in turn and in
// random order, each from a CPU that the server has not: what a request takes of
// the client's CPU delays no other client's.
const agreements = `
networks: [host]
paths: [cross-host]
nic: [full]
workloads:
  - {name: mysql, tool: sysbench, flows: 1}
  - {name: mysql, tool: tare, flows: 1}
  - {name: mysql, tool: sysbench, flows: 16}
  - {name: mysql, tool: tare, flows: 16}
  - {name: http, tool: wrk, flows: 1}
  - {name: http, tool: tare, flows: 1}
  - {name: http, tool: wrk, flows: 10}
  - {name: http, tool: tare, flows: 10}
blocks: 8
warmup: 30ms
duration: 200ms
`

// agreementBound is how far the two may be apart: theirs are other programs in
// other languages, which take some microseconds of each select themselves.
const agreementBound = 1.15

// agreementTries is how often a run may be disturbed by other work on the
// machine, which meets the two unlike. What really differs differs each time.
const agreementTries = 3

// TestDeepClientsAndOursAgree fails where the interval of their ratio lies wholly
// beyond the bound. On ten connections the client of http is as busy as the server, so
// that the one that takes less time of its CPU reports the shorter latency: there
// ours may be ahead of wrk by any ratio, and not behind.
func TestDeepClientsAndOursAgree(t *testing.T) {
	binary := labtest.Tare(t)
	plan := filepath.Join(t.TempDir(), "agreement.yaml")
	if err := os.WriteFile(plan, []byte(agreements), 0o600); err != nil {
		t.Fatal(err)
	}
	for try := 1; ; try++ {
		agree := true
		res, _ := runPlan(t, binary, plan)
		for _, one := range []asked{{"sysbench", 1}, {"sysbench", 16}, {"wrk", 1}, {"wrk", 10}} {
			ratio := medianRatio(t, res, one)
			t.Logf("%g connections: tare / %s %.3f [%.3f, %.3f]", one.connections, one.tool, math.Exp(ratio.Value), math.Exp(ratio.Low), math.Exp(ratio.High))
			ahead := one == asked{"wrk", 10}
			agree = agree && ratio.Low < math.Log(agreementBound) && (ahead || ratio.High > -math.Log(agreementBound))
		}
		if agree {
			return
		}
		if try == agreementTries {
			t.Fatalf("in none of %d runs were they within a factor of %g", try, agreementBound)
		}
		labtest.TryAgain(t, "a client and ours were further apart than a factor of %g", agreementBound)
	}
}

// runPlan runs a plan and returns its result, and what it printed.
func runPlan(t *testing.T, binary, plan string, flags ...string) (*result.Result, string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "result.json")
	run := exec.Command(binary, slices.Concat([]string{"run", plan, "--out", out}, flags)...)
	printed, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	res, err := result.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(printed)
}

// asked is a tool and its number of connections.
type asked struct {
	tool        string
	connections float64
}

// medianRatio is the log of our client's median latency over the tool's, each
// server and block a pair: of all figures the median bends least where other work
// takes the CPU.
func medianRatio(t *testing.T, res *result.Result, a asked) stats.Interval {
	t.Helper()
	ours, theirs := mediansOf(res, a.workload(), asked{"tare", a.connections}), mediansOf(res, a.workload(), a)
	var ratios []float64
	for key, median := range ours {
		if median > 0 && theirs[key] > 0 {
			ratios = append(ratios, math.Log(median/theirs[key]))
		}
	}
	ratio, ok := stats.HodgesLehmann(ratios)
	if !ok {
		t.Fatalf("%s on %g connections: %d pairs are too few", a.tool, a.connections, len(ratios))
	}
	return ratio
}

// workload is the tool's.
func (a asked) workload() string {
	if a.tool == "wrk" {
		return "http"
	}
	return "mysql"
}

// sampleKey is one server in one block.
type sampleKey struct {
	block  int
	layout string
}

// mediansOf are a tool's median latencies, in s.
func mediansOf(res *result.Result, workload string, a asked) map[sampleKey]float64 {
	medians := map[sampleKey]float64{}
	for _, c := range res.Cells {
		if c.Workload == workload && c.Params["tool"] == a.tool && c.Params["connections"] == a.connections {
			for _, s := range c.Samples {
				medians[sampleKey{s.Block, s.Layout}] = s.Metrics["latency_p50"]
			}
		}
	}
	return medians
}
