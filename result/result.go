// Package result is the file that tare writes: one JSON document with the
// environment, the plan, every sample, what the cells amount to, and why.
//
// All quantities are in SI base units (bit/s, s, 1/s, ratio); scaling is for
// what people read. Arrays are never null. A reader accepts unknown fields; a
// writer never changes a field's meaning within a schema number.
package result

import (
	"slices"
	"strings"
)

// Schema names the format that this package writes.
const Schema = "tare.result/2"

// Result is one experiment, or the part of it that was done.
type Result struct {
	Schema      string        `json:"schema"`
	ID          string        `json:"id"`
	Started     string        `json:"started"`  // RFC 3339
	Finished    string        `json:"finished"` // RFC 3339; empty while it runs or when it was interrupted
	Tool        Tool          `json:"tool"`
	Environment Environment   `json:"environment"`
	Plan        Plan          `json:"plan"`
	Site        string        `json:"site,omitempty"`   // SiteLab, SiteEndpoint, SiteSSH, SiteDocker, SiteKubernetes; empty, as in older results: SiteLab
	Places      []Place       `json:"places,omitempty"` // where the site is no lab
	Facts       []string      `json:"facts,omitempty"`  // what a cluster says about itself, in sentences
	Noise       Noise         `json:"noise"`
	Cells       []Cell        `json:"cells"`
	Findings    []Finding     `json:"findings"`
	Comparisons []Comparison  `json:"comparisons"`         // of cells with each other, besides each network with the host
	Contrasts   []Cell        `json:"contrasts,omitempty"` // what was measured besides, to divide the tolls of cells; without samples
	Rankings    []Ranking     `json:"rankings,omitempty"`  // where the plan asks something of the networks
	Growths     []Growth      `json:"growths,omitempty"`   // where a network was weighed with three values of a parameter or more
	Case        *Case         `json:"case,omitempty"`      // where it repeats a published measurement
	Kernels     *Kernels      `json:"kernels,omitempty"`   // where the plan has several
	Pairs       []MachinePair `json:"pairs,omitempty"`     // of machines, where several were measured: each is a block
	Mesh        *Mesh         `json:"mesh,omitempty"`      // where several nodes were compared with each other
	Round       *Round        `json:"round,omitempty"`     // where it is one of a soak
	States      []State       `json:"states"`              // the machine and each place before the first window
	Unread      []Unread      `json:"unread"`              // sources that could not be read, each once
	Warnings    []string      `json:"warnings"`
}

// Tool is the binary that measured.
type Tool struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
}

// Place is an end that tare did not build, and its machine.
type Place struct {
	Name        string      `json:"name"`              // as in a lab: h1, h1/c1
	Machine     string      `json:"machine,omitempty"` // as the user or the cluster calls it; empty: by no name
	Boot        string      `json:"boot,omitempty"`    // places that share it are on one machine
	Environment Environment `json:"environment"`
}

// Environment is the machine as the run found it.
type Environment struct {
	Kernel         string            `json:"kernel"`
	CPUModel       string            `json:"cpu_model"`
	CPUs           int               `json:"cpus"`
	Virtualisation string            `json:"virtualisation"` // "none", or the hypervisor's name as CPUID or DMI gives it
	Clocksource    string            `json:"clocksource"`
	MemoryBytes    uint64            `json:"memory_bytes"`
	Privilege      string            `json:"privilege"`                  // "root" or "user namespace"
	Parts          map[string]string `json:"parts"`                      // real parts and their versions
	LabUp          Seconds           `json:"lab_up,omitempty"`           // that the lab took to build
	ServersUp      Seconds           `json:"servers_up,omitempty"`       // that the real servers of its workloads took to be ready
	LabMemoryBytes uint64            `json:"lab_memory_bytes,omitempty"` // that its processes held once it was built
}

// Emulated begins the warning on what was measured on a CPU that is translated: no time
// of it is a machine's.
const Emulated = "emulated"

// Corrected begins the warning on a time to which the tool that measured it added what it did not
// measure, as for requests that a slow answer held back.
const Corrected = "corrected"

// Corrected reports whether such a time is a metric's.
func (m Metric) Corrected() bool { return m.warnedOf(Corrected) }

func (m Metric) warnedOf(code string) bool {
	return slices.ContainsFunc(m.Warnings, func(w string) bool { return strings.HasPrefix(w, code+":") })
}

// Emulated reports whether QEMU translates the instructions of the CPU (its TCG), by the
// name that it gives it.
func (e Environment) Emulated() bool { return strings.HasPrefix(e.CPUModel, "QEMU TCG") }

// Emulated reports whether a cell was measured on a CPU that is translated.
func (c *Cell) Emulated() bool {
	return slices.ContainsFunc(c.Metrics, func(m Metric) bool { return m.warnedOf(Emulated) })
}

// Noise is how quiet the machine was.
type Noise struct {
	AA         []AA    `json:"aa"`
	Steal      float64 `json:"steal"`       // share of all CPU time that the hypervisor took during the run; of the machine where it was most; -1: not known
	Pressure   float64 `json:"pressure"`    // share of the time before the run in which a task waited for a CPU (PSI "some"); -1 where the kernel has no PSI
	ForeignCPU float64 `json:"foreign_cpu"` // CPUs busy with other work before the run, in cores
	// Daemons is absent where the lab has none.
	Daemons *Daemons `json:"daemons,omitempty"`
	// CarryOver has an entry for each group whose runs took turns.
	CarryOver []CarryOver `json:"carry_over,omitempty"`
}

// CarryOver is what a slot has of those around it: whether the run before matters,
// and whether its beginning is like the rest.
type CarryOver struct {
	Path     string  `json:"path"`
	Workload string  `json:"workload"`
	Params   Params  `json:"params"`
	Metric   string  `json:"metric"`
	Effect   float64 `json:"effect"` // standard deviation of a slot's value by which run had the slot before, a ratio
	Chance   float64 `json:"chance"` // of as much where it does not matter
	Bias     float64 `json:"bias"`   // how much the toll that differs most would differ at least, had only the second half of each slot counted; zero: by chance
	Length   Seconds `json:"length"` // of a slot
	Slots    int     `json:"slots"`
	Lost     int     `json:"lost"` // of them, those that were late or brought nothing
}

// Daemons is what the daemons of other networks used of the CPUs while one was
// measured, or before several took turns, in cores.
type Daemons struct {
	CPU  float64            `json:"cpu"`  // on average over all runs
	Most float64            `json:"most"` // in the worst run
	Each map[string]float64 `json:"each"` // on average, by program
}

// AA compares the two baselines of one group: the same network twice.
type AA struct {
	Path     string  `json:"path"`
	Workload string  `json:"workload"`
	Params   Params  `json:"params"`
	Metric   string  `json:"metric"`
	Low      float64 `json:"low"`  // of the toll of one against the other
	High     float64 `json:"high"` // of the toll of one against the other
	Verdict  string  `json:"verdict"`
}

// The states of a cell.
const (
	StatusOK      = "ok"
	StatusSkipped = "skipped"
	StatusFailed  = "failed"
)

// Cell is one network on one path under one workload with its parameters.
type Cell struct {
	Network  string `json:"network"`
	Path     string `json:"path"`
	Workload string `json:"workload"`
	Group    string `json:"group"` // its group's key: cells that share it are compared with each other
	Params   Params `json:"params"`
	Mode     string `json:"mode"`
	Fidelity string `json:"fidelity"`
	Status   string `json:"status"`
	Reason   string `json:"reason"` // why it is not ok
	// Clusters are where it was measured, by the names that the places of states
	// begin with; of a baseline there are two, layout "a" and "b".
	Clusters []string  `json:"clusters"`
	Client   *End      `json:"client,omitempty"`
	Server   *End      `json:"server,omitempty"`
	Metrics  []Metric  `json:"metrics"`
	Samples  []Sample  `json:"samples"`
	Findings []Finding `json:"findings"`
	Trace    *Trace    `json:"trace,omitempty"` // where it was traced
}

// End is one of the two processes that exchange the traffic.
type End struct {
	At      string `json:"at"`      // "h1/c1"
	Seccomp string `json:"seccomp"` // "none", "strict" or "filter" (seccomp(2)); empty: unknown
	CPUs    string `json:"cpus"`    // that it may run on, as a CPU list
}

// Metric is a number with its unit, interval and baseline.
type Metric struct {
	Name      string     `json:"name"`
	Unit      string     `json:"unit"`
	Better    Better     `json:"better"`
	N         int        `json:"n"` // blocks
	Value     float64    `json:"value"`
	Low       *float64   `json:"low,omitempty"` // 95 % interval; absent below six blocks
	High      *float64   `json:"high,omitempty"`
	Baseline  *Baseline  `json:"baseline,omitempty"`
	Toll      *Toll      `json:"toll,omitempty"`
	Ceiling   *Ceiling   `json:"ceiling,omitempty"`
	TollParts *TollParts `json:"toll_parts,omitempty"`
	Layer4    *Layer4    `json:"layer4,omitempty"`
	Warnings  []string   `json:"warnings"`
}

// Baseline is what a metric is weighed against.
type Baseline struct {
	Network string  `json:"network"`
	Value   float64 `json:"value"`
}

// Layer4 is what the network's layer 4 predicts of an application's toll. A
// transaction waits one round trip and the time of its bytes, each longer than
// on the baseline by what tcp_rr and tcp_stream measured in the same blocks; one of
// datagrams one round trip, by what udp_rr measured.
type Layer4 struct {
	RoundTrip float64 `json:"round_trip"` // s that a round trip takes longer
	Bytes     float64 `json:"bytes"`      // s that a transaction's bytes take longer
	Predicted float64 `json:"predicted"`  // the toll that both would make, a ratio
	Rest      float64 `json:"rest"`       // the toll less what is predicted
}

// Toll is what the network costs against its baseline: a ratio, positive is
// worse, and the difference in the metric's own unit (cell minus baseline).
// Below six blocks there is no interval and the verdict is inconclusive.
type Toll struct {
	Value       float64  `json:"value"`
	Low         *float64 `json:"low,omitempty"`
	High        *float64 `json:"high,omitempty"`
	Verdict     string   `json:"verdict"`
	Margin      float64  `json:"margin"`                  // from which a difference counts: the declared one, or more where baselines differ
	BlocksToSay int      `json:"blocks_needed,omitempty"` // with an inconclusive verdict: how many blocks would decide
	Delta       Delta    `json:"delta"`
}

// Delta is a difference in the metric's own unit.
type Delta struct {
	Value float64  `json:"value"`
	Low   *float64 `json:"low,omitempty"`
	High  *float64 `json:"high,omitempty"`
}

// Ceiling is the most that the wire could carry, and the share reached.
type Ceiling struct {
	Value   float64 `json:"value"`
	Ratio   float64 `json:"ratio"`
	Framing float64 `json:"framing,omitempty"` // share of the host's ceiling that the network's own headers take
}

// TollParts splits a toll into what headers explain and the rest.
type TollParts struct {
	Framing    float64 `json:"framing"`
	Processing float64 `json:"processing"`
}

// Sample is one window of one cell.
type Sample struct {
	Block    int                  `json:"block"`            // from 0
	Order    int                  `json:"order"`            // place within the block, from 0
	Layout   string               `json:"layout,omitempty"` // "a" or "b": which of the two baselines
	Metrics  map[string]float64   `json:"metrics"`
	Series   map[string][]float64 `json:"series"`
	Counters map[string]float64   `json:"counters"`
	Slots    *Slots               `json:"slots,omitempty"` // where the cells of its group took turns
	Readings []Reading            `json:"readings"`
	Warnings []string             `json:"warnings"`
}

// Slots is what a sample's slots gave, one for each cycle of the block.
type Slots struct {
	Length Seconds              `json:"length"`          // of a slot
	Window Seconds              `json:"window"`          // that the cell had before its slots, in which its CPU time was counted; 0: none
	Values map[string][]float64 `json:"values"`          // by metric; zero: the slot was late or lost
	Later  map[string][]float64 `json:"later,omitempty"` // the second half of a slot as a ratio to all of it; zero: unknown
	Places []int                `json:"places"`          // of the slot in its cycle, from 0
}

// Finding is a cause that the evidence supports.
type Finding struct {
	ID         string     `json:"id"`
	Cause      string     `json:"cause"`
	Evidence   []Evidence `json:"evidence"`
	Fix        string     `json:"fix"`
	Confidence float64    `json:"confidence"`
	Share      float64    `json:"share"`         // of the toll that it explains; 0: unknown
	Low        *float64   `json:"low,omitempty"` // 95 % interval of the share; absent where blocks give none
	High       *float64   `json:"high,omitempty"`
	Severity   string     `json:"severity"`        // SeverityError or SeverityWarning
	Paths      []string   `json:"paths,omitempty"` // that it was found on, where several were looked at
	Remedy     *Remedy    `json:"remedy,omitempty"`
	Verified   *Verified  `json:"verified,omitempty"`
}

// Remedy is a fix that can be carried out without a choice of the user's.
type Remedy struct {
	At      string `json:"at"`             // the place of the lab: "vxlan.h1/c1"
	Command string `json:"command"`        // for a shell there
	Then    []Step `json:"then,omitempty"` // what must be done after it, mostly elsewhere
}

// Step is one of several commands of a remedy.
type Step struct {
	At      string `json:"at"`
	Command string `json:"command"`
}

// Steps are all commands of a remedy, in their order.
func (r *Remedy) Steps() []Step { return append([]Step{{r.At, r.Command}}, r.Then...) }

// Verified is what a fix gave back when it was carried out and the cell was
// measured again.
type Verified struct {
	Metric    string   `json:"metric,omitempty"` // absent where the cell had none: it failed
	Before    *float64 `json:"before,omitempty"` // the toll; absent where there was none
	After     *float64 `json:"after,omitempty"`
	Recovered float64  `json:"recovered"` // share of the toll that is gone: a ratio, 0 to 1
}

// The severities of a finding.
const (
	SeverityError   = "error"   // packets are lost or refused
	SeverityWarning = "warning" // it costs, and all arrives
)

// Evidence is one observation and where it was read.
type Evidence struct {
	Name   string `json:"name"`
	Value  any    `json:"value"`
	Source string `json:"source"`
}

// StepEnds names the series of a sample with the times at which each step of its
// other series ended, in s from the window's opening. A sweep has "size" or "offered" instead.
const StepEnds = "time"

// The ends of a run.
const (
	AtServer = "server"
	AtClient = "client"
)

// Reading is what one source counted at one place from before a run to after
// it, warm-up included. What did not change is left out.
type Reading struct {
	At     string             `json:"at,omitempty"`  // "h1/c1"; empty: the whole machine
	End    string             `json:"end,omitempty"` // AtServer or AtClient: of the process there that moves the data, alone
	Source string             `json:"source"`        // the file, or the command that shows the same
	Counts map[string]float64 `json:"counts"`        // times in s
}

// State is what one source reports of one place before the first window.
type State struct {
	At     string         `json:"at,omitempty"` // "vxlan.h1/c1"; empty: the whole machine
	Source string         `json:"source"`
	Values map[string]any `json:"values"`
}

// Unread is a source that could not be read.
type Unread struct {
	Source string `json:"source"`
	Reason string `json:"reason"` // and what would help
}
