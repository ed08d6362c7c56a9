package main

import (
	"fmt"
	"strings"
	"time"

	"tare/result"
)

// The bounds, at so many nodes.
const (
	boundNodes = 5000
	memoryMost = 256 << 20
	resultMost = 20 << 20
	roundMost  = time.Minute
)

// page is what is written.
type page struct {
	command     string
	date        string
	environment result.Environment
	sizes       [][]figures // for each number of nodes, from the meshes in which nobody is slow on
}

func (p page) render() string {
	var b strings.Builder
	env := p.environment
	fmt.Fprintf(&b, "# Scale: a mesh of many nodes\n\n```text\n%s\n```\n\n", p.command)
	fmt.Fprintf(&b, "Written by that command on %s: %s, %d CPUs.\n", p.date, env.CPUModel, env.CPUs)
	fmt.Fprint(&b, introduction)
	p.costs(&b)
	p.names(&b)
	fmt.Fprint(&b, limits)
	return b.String()
}

// costs adds what the meshes cost.
func (p page) costs(b *strings.Builder) {
	fmt.Fprint(b, "## Cost\n\n| nodes | windows | windows again | heap, peak | memory of the process, peak | one round: time | one round: CPU | judging: CPU | bytes for a window | result file | failed |\n|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, of := range p.sizes {
		w := worst(of)
		fmt.Fprintf(b, "| %d | %d | %d | %s | %s | %s | %s | %s | %d | %s | %d |\n", w.Nodes, w.Windows, w.Again, mebibytes(w.HeapBytes),
			mebibytes(w.RSSBytes), seconds(w.RoundWall), seconds(w.RoundCPU), seconds(w.JudgeCPU), w.WindowBytes, mebibytes(uint64(w.ResultBytes)), w.Failed)
	}
	fmt.Fprint(b, costNotes)
	for _, of := range p.sizes {
		if w := worst(of); w.Nodes == boundNodes {
			fmt.Fprintf(b, "| bound at %d nodes | measured | |\n|---|---|---|\n", boundNodes)
			for _, row := range []struct {
				text, measured string
				holds          bool
			}{
				{"memory of the process below 256 MiB", mebibytes(w.RSSBytes), w.RSSBytes < memoryMost},
				{"result file below 20 MiB", mebibytes(uint64(w.ResultBytes)), w.ResultBytes < resultMost},
				{"one round below 60 s", seconds(w.RoundWall), w.RoundWall < roundMost},
			} {
				verdict := "holds"
				if !row.holds {
					verdict = "does not hold"
				}
				fmt.Fprintf(b, "| %s | %s | %s |\n", row.text, row.measured, verdict)
			}
			fmt.Fprintln(b)
		}
	}
}

// names adds who was named.
func (p page) names(b *strings.Builder) {
	fmt.Fprintf(b, "## Who is named\n\n%s| nodes | slow by | meshes | recall: slow nodes that are named | others that are named | precision: slow among the named | windows again, a mesh |\n|---|---|---|---|---|---|---|\n", truthNotes)
	for _, of := range p.sizes {
		for _, f := range of {
			slow := "none"
			if f.Slow > 0 {
				slow = fmt.Sprintf("%g %%", 100*f.Slow)
			}
			fmt.Fprintf(b, "| %d | %s | %d | %s | %d | %s | %d |\n", f.Nodes, slow, f.Runs,
				part(f.Found, f.True), f.Wrong, part(f.Found, f.Found+f.Wrong), f.Again/max(1, f.Runs))
		}
	}
}

const introduction = `
It measures what a [mesh](mesh.md) of many nodes costs its controller, and how well it names who is slow. The agents are
simulated, in the controller's process: handles of real ones talk to them in real frames, through pipes in memory.

`

const costNotes = `
A window is a pair in a round; each round is run sparse and dense. *Windows again* are those of the blocks that measured
suspects again, in the meshes of that size that had most. Memory and CPU time are those of both ends: the simulated
agents encode and check as many messages as the controller. The runtime is asked to keep to 220 MiB (` + "`GOMEMLIMIT`" + `), without
which it takes more before it collects. *One round* is the slowest dense one, with all its pairs at once: what it takes besides
the windows themselves. *Judging* is what one call takes at the end. *Failed* are windows in which the controller or a simulated agent
was at fault.

`

const truthNotes = `One node in a hundred is slow, one at least. Nodes that nothing is wrong with differ by 1 %, pairs by 2 % and windows by 5 % (standard
deviations of the logarithm), one window in a hundred reaches a third of its value, and one in two hundred is lost. Racks have
40 nodes. The declared margin is 2 %. A link, a rack or an uplink that is named counts among *others*, since none is slow.

`

const limits = `
A node that is slow by 5 % is five deviations away from nodes that nothing is wrong with, of which there may be thousands; its
twenty windows of 5 % noise each hardly distinguish it from them. It is suspected seldom, and named only if it is
farther away than chance explains. Windows that vary less, or more passes, find more.

## What is not simulated

- Windows take no time: agents answer at once. A round on machines takes the controller's time and its windows'.
- Starting agents, and the streams of a site: ` + "`ssh`" + ` and ` + "`kubectl exec`" + ` have a process or a connection for each, with
  memory that is not counted here, and lose or delay messages. Pipes in memory do not.
- The network. What is wrong with a node is a factor of its values; a real one may be slow in one direction, with some
  partners, or for some time.
- Nodes that vary more than others, and rounds in which the whole network slows down.
- Other work on the controller's machine.
`

// worst is the most of each cost among meshes of one size.
func worst(of []figures) figures {
	w := of[0]
	w.Again, w.Failed = 0, 0
	for _, f := range of {
		w.Again = max(w.Again, f.Again/max(1, f.Runs))
		w.Failed += f.Failed
		w.HeapBytes, w.RSSBytes = max(w.HeapBytes, f.HeapBytes), max(w.RSSBytes, f.RSSBytes)
		if f.RoundWall > w.RoundWall {
			w.RoundWall, w.RoundCPU = f.RoundWall, f.RoundCPU
		}
		w.JudgeCPU, w.ResultBytes = max(w.JudgeCPU, f.JudgeCPU), max(w.ResultBytes, f.ResultBytes)
	}
	return w
}

func mebibytes(bytes uint64) string { return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20)) }

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f s", d.Seconds()) }

func part(some, all int) string {
	if all == 0 {
		return "none"
	}
	return fmt.Sprintf("%d of %d", some, all)
}
