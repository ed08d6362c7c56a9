package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"tare/catalog"
	"tare/firewall"
	"tare/result"
	"tare/weigh"
)

// Evidence is all that is known of one path.
type Evidence struct {
	result.Examination

	// Lab names the lab whose places these are, for the commands of fixes; empty:
	// it no longer exists.
	Lab string
	// Prefix completes a place to an address of the lab: "vxlan.".
	Prefix string

	// Passing is a path that lacks one step of this one, and passes; empty: there is none.
	Passing string

	// CC is the congestion control that flows were to be under; empty: nobody asked
	// for one.
	CC string

	// If a measurement is explained: its cell, that of the baseline and that of the
	// parent network, on the same path, and how quiet the machine was.
	Cell     *result.Cell
	Baseline *result.Cell
	Parent   *result.Cell
	Parts    []weigh.Part // of the cell's toll on the metric that is slower, as far as the run shows them
	Noise    result.Noise
	groups   []*weigh.Group              // those of the cell's result
	walls    map[string][]firewall.Chain // the rules of each place, read once
	leads    map[string]translated       // what translates the trials of a protocol, looked for once
}

// The sources that rules read (package probe names them).
const (
	links        = "ip -d link"
	linkStats    = "ip -s -s link"
	offloads     = "ethtool -k"
	sysctls      = "/proc/sys/net"
	neighbours   = "ip neighbour"
	fdb          = "bridge fdb"
	rules        = "nft list ruleset"
	qdiscs       = "tc -s qdisc"
	snmp         = "/proc/net/snmp"
	snmp6        = "/proc/net/snmp6"
	netstat      = "/proc/net/netstat"
	arpCache     = "/proc/net/stat/arp_cache"
	ndiscCache   = "/proc/net/stat/ndisc_cache"
	arpLimits    = "/proc/sys/net/ipv4/neigh/default"
	ndiscLimits  = "/proc/sys/net/ipv6/neigh/default"
	connections  = "ss -tan"
	accepted     = "ss -tn"
	untranslated = "conntrack -L -p udp"
	shapers      = "tc -d qdisc"
	conntrack    = "/proc/sys/net/netfilter"
	tracked      = "/proc/net/stat/nf_conntrack"
	cpuStat      = "/sys/fs/cgroup/.../cpu.stat"
	cpuTimes     = "/proc/stat"
	scheduled    = "/proc/self/task/*/schedstat"
	steering     = "/sys/class/net/*/queues"
	pressure     = "/proc/pressure"
	listening    = "ss -ltn"
	trials       = "live trial"
	legacyTables = "/proc/net/ip_tables_names"
	xfrmStat     = "/proc/net/xfrm_stat"
	xfrmPolicies = "ip xfrm policy"
	tcFilters    = "tc -s filter"
	queues       = "/proc/net/netfilter/nfnetlink_queue"
)

// state is what a source reports about a place; nil: nothing.
func (e *Evidence) state(at, source string) map[string]any {
	for _, s := range e.States {
		if s.At == at && s.Source == source {
			return s.Values
		}
	}
	return nil
}

// unread reports whether a source could not be read at some place. A source that
// was read and gave no state is empty.
func (e *Evidence) unread(source string) bool {
	return slices.ContainsFunc(e.Unread, func(u result.Unread) bool { return u.Source == source })
}

// number is a value of a state; 0: it has none.
func (e *Evidence) number(at, source, name string) float64 {
	return result.Number(e.state(at, source)[name])
}

// word is a value of a state as a text; empty: it has none.
func (e *Evidence) word(at, source, name string) string {
	text, _ := e.state(at, source)[name].(string)
	return text
}

// counted is how much a counter of a place grew.
func (e *Evidence) counted(at, source, name string) float64 {
	var sum float64
	for _, r := range e.Readings {
		if r.At == at && r.Source == source {
			sum += r.Counts[name]
		}
	}
	return sum
}

// sums are how much the counters of a source grew at a place.
func (e *Evidence) sums(at, source string) map[string]float64 {
	sums := map[string]float64{}
	for _, r := range e.Readings {
		if r.At == at && r.Source == source {
			for name, n := range r.Counts {
				sums[name] += n
			}
		}
	}
	return sums
}

// names are those of a state that end so, without the end, in order.
func (e *Evidence) names(at, source, end string) []string {
	var names []string
	for name := range e.state(at, source) {
		if short, ok := strings.CutSuffix(name, end); ok {
			names = append(names, short)
		}
	}
	slices.Sort(names)
	return names
}

// run writes a command for a place so that it can be pasted.
func (e *Evidence) run(at, command string) string {
	switch {
	case e.Lab != "":
		return fmt.Sprintf("tare lab exec --name %s %s%s -- %s", e.Lab, e.Prefix, at, command)
	case at != "":
		return command + "  # in " + at
	}
	return command
}

// typed writes a remedy so that it can be pasted: each step where it belongs.
func (e *Evidence) typed(r *result.Remedy) string {
	text := e.run(r.At, asOne(r.Command))
	for _, step := range r.Then {
		if e.Lab == "" {
			text += "; then in " + step.At + ": " + step.Command
		} else {
			text += " && " + e.run(step.At, asOne(step.Command))
		}
	}
	return text
}

// asOne makes one command of those that a shell must read at the place itself,
// not where they are pasted.
func asOne(command string) string {
	if !strings.ContainsAny(command, "$&|>") || strings.HasPrefix(command, "sh -c ") {
		return command
	}
	return "sh -c '" + strings.ReplaceAll(command, "'", `'\''`) + "'"
}

// remedy is a fix that can be typed as it is, at a place of the evidence.
func remedy(at, command string) *result.Remedy { return &result.Remedy{At: at, Command: command} }

// seen is one piece of evidence, of a place where it is one's.
func seen(name string, value any, at, source string) result.Evidence {
	if at != "" {
		source = at + ": " + source
	}
	return result.Evidence{Name: name, Value: value, Source: source}
}

// failed is the first trial that did not pass.
func (e *Evidence) failed() (result.Trial, bool) {
	return result.First(e.Trials, func(t result.Trial) bool { return t.Error != "" && !e.late(t) })
}

// smallest is how large a message still counts as a small one.
const smallest = 128

// dead reports whether not even small messages pass.
func (e *Evidence) dead() bool {
	t, failed := e.failed()
	return failed && t.Size <= smallest && t.Idle == 0
}

// errorOf is the evidence that a trial failed.
func errorOf(t result.Trial) result.Evidence {
	return seen(fmt.Sprintf("%s with %d bytes", t.Workload, t.Size), t.Error, "", trials)
}

// hostOf is the host of a place: "h1" of "h1/c1".
func hostOf(at string) string { return catalog.HostOf(at) }
