package cli

import (
	"bytes"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"tare/result"
	"tare/stats"
)

// agreement asks the same servers by sysbench and by our own client, in turn
// and in random order, each from a CPU that the server has not: what a select
// takes of the client's CPU delays no other client's.
const agreement = `
networks: [host]
paths: [cross-host]
nic: [full]
workloads:
  - {name: mysql, tool: sysbench, flows: 1}
  - {name: mysql, tool: tare, flows: 1}
  - {name: mysql, tool: sysbench, flows: 16}
  - {name: mysql, tool: tare, flows: 16}
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

// TestSysbenchAndOursAgree fails where the interval of their ratio lies wholly
// beyond the bound.
func TestSysbenchAndOursAgree(t *testing.T) {
	root, binary := buildTare(t)
	plan := filepath.Join(root, "agreement.yaml")
	if err := os.WriteFile(plan, []byte(agreement), 0o600); err != nil {
		t.Fatal(err)
	}
	for try := 1; ; try++ {
		agree := true
		res := runPlan(t, binary, plan)
		for _, connections := range []float64{1, 16} {
			ratio := medianRatio(t, res, connections)
			t.Logf("%g connections: tare / sysbench %.3f [%.3f, %.3f]", connections, math.Exp(ratio.Value), math.Exp(ratio.Low), math.Exp(ratio.High))
			agree = agree && ratio.Low < math.Log(agreementBound) && ratio.High > -math.Log(agreementBound)
		}
		if agree {
			return
		}
		if try == agreementTries {
			t.Fatalf("in none of %d runs were they within a factor of %g", try, agreementBound)
		}
	}
}

// runPlan runs a plan and reads its result.
func runPlan(t *testing.T, binary, plan string) *result.Result {
	t.Helper()
	var said bytes.Buffer
	run := exec.Command(binary, "run", plan, "--json")
	run.Stderr = &said
	out, err := run.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	res, err := result.Read(bytes.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// medianRatio is the log of our client's median latency over sysbench's, each
// server and block a pair: of all figures the median bends least where other work
// takes the CPU.
func medianRatio(t *testing.T, res *result.Result, connections float64) stats.Interval {
	t.Helper()
	ours, theirs := mediansOf(res, "tare", connections), mediansOf(res, "sysbench", connections)
	var ratios []float64
	for key, median := range ours {
		if median > 0 && theirs[key] > 0 {
			ratios = append(ratios, math.Log(median/theirs[key]))
		}
	}
	ratio, ok := stats.HodgesLehmann(ratios)
	if !ok {
		t.Fatalf("%g connections: %d pairs are too few", connections, len(ratios))
	}
	return ratio
}

// sampleKey is one server in one block.
type sampleKey struct {
	block  int
	layout string
}

// mediansOf are a tool's median latencies, in s.
func mediansOf(res *result.Result, tool string, connections float64) map[sampleKey]float64 {
	medians := map[sampleKey]float64{}
	for _, c := range res.Cells {
		if c.Workload == "mysql" && c.Params["tool"] == tool && c.Params["connections"] == connections {
			for _, s := range c.Samples {
				medians[sampleKey{s.Block, s.Layout}] = s.Metrics["latency_p50"]
			}
		}
	}
	return medians
}
