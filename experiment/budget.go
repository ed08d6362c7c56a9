package experiment

import (
	"cmp"
	"fmt"
	"time"

	"tare/experiment/schedule"
	"tare/result"
)

// VerdictBlocks are as many as an interval needs, and one to spare, since a busy machine may lose one.
const VerdictBlocks = schedule.LeastBlocks + 1

// About what a run takes besides its blocks: to begin and to end, and for each cluster of its
// lab.
const (
	setupTime   = 1500 * time.Millisecond
	clusterTime = 150 * time.Millisecond
)

// setup is about what a plan takes besides its blocks.
func setup(p result.Plan) time.Duration {
	clusters := map[string]bool{}
	for _, g := range groupsOf(p) {
		for _, at := range g.places {
			clusters[at.cluster] = true
		}
	}
	return setupTime + time.Duration(len(clusters))*clusterTime
}

// measuring is the time that the blocks of a plan may take together; 0: as long as they take.
func measuring(p result.Plan) time.Duration {
	if p.MaxTime == 0 {
		return 0
	}
	return max(p.MaxTime.Duration()-setup(p), time.Millisecond)
}

// budgeted gives a plan its blocks, and for how long each run is measured in them, where it leaves
// them open: what fits into its time, but not fewer blocks than verdicts need.
func budgeted(p result.Plan) result.Plan {
	open := (p.Blocks == 0 || p.Looks) && p.Precision == 0
	if p.Blocks == 0 {
		p.Blocks = quickBlocks
		if p.Precision > 0 {
			p.Blocks = precisionCap
		}
	}
	within := measuring(p)
	for {
		lengths := lengthsOf(p).Lasting(cmp.Or(p.Duration, window(p)))
		if !open || within == 0 || p.Blocks <= VerdictBlocks || lengths.All(timedOf(p, groupsOf(p))) <= within {
			p.Duration, p.Warmup = lengths.Duration, lengths.Warmup
			return p
		}
		p.Blocks--
	}
}

// CheckTime reports whether a completed plan has the time for as many blocks as verdicts need: an
// *InputError with the least time that would do. A plan of fewer blocks asks for no verdicts.
func CheckTime(p result.Plan) error {
	if p.MaxTime == 0 || p.Blocks < VerdictBlocks {
		return nil
	}
	least := setup(p) + VerdictBlocks*blockTime(p)
	if least <= p.MaxTime.Duration() {
		return nil
	}
	whole := least.Truncate(time.Second) + time.Second
	return &InputError{fmt.Sprintf("max_time %s: %d blocks, the fewest that are planned for verdicts, take about %s: give --max-time %s, or leave out networks, paths or workloads",
		p.MaxTime.Duration(), VerdictBlocks, whole, whole)}
}
