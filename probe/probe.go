// Package probe reads the kernel's counters around a run, one file per source.
//
// Each source has a pure parser over bytes and a reader that takes the root
// folder: "/" in production, a captured tree in tests. Counters only grow; what
// a run cost is the difference of two reads.
//
// What counts is read around every window, from descriptors that stay those of a namespace, with few
// allocations. So the parsers are tare's own: prometheus/procfs opens each file by its path each time,
// which may be that of another namespace, and takes three to five times as long.
package probe

// Scope is what a source covers.
type Scope string

// The scopes.
const (
	Machine   Scope = "machine"   // all CPUs, all namespaces
	Namespace Scope = "namespace" // the network namespace of the calling thread
	Process   Scope = "process"   // the calling process, all its threads
)

// Probe is one source of the kernel's numbers. It is either a counter or a
// state: one of count and look is nil.
type Probe struct {
	Name   string
	Doc    string
	Scope  Scope
	Source string // the file, or the command that shows a person the same

	wraps float64 // the count after which the kernel begins at 0 again; 0: never

	// count reads what the source has counted so far, by name. Times are in
	// seconds. A counter of a device begins with its name: "eth0.tx_dropped".
	// Zeros may be left out.
	count func(*view) (map[string]float64, error)
	// look reads the state: numbers, words, true and false.
	look func(*view) (map[string]any, error)
}

// width32 is the count after which a counter of 32 bits begins at 0 again.
const width32 = 1 << 32

// All lists the probes: what is read around every window, then what is read
// once.
func All() []Probe {
	return []Probe{
		cpuTimes(), softirqs(), softnet(), pressure(), neighbourCache(), neighbourCache6(),
		snmp(), snmp6(), netstat(), linkStats(), driverStats(), qdiscs(), conntrack(), ruleCounters(),
		schedstat(), sched(), cgroupCPU(),

		xfrmStat(), xfrmPolicies(), filterCounters(), filters(),
		neighbourLimits(),
		links(), offloads(), steering(), sysctls(), neighbours(), forwarding(), rules(), queues(), legacyTables(), conntrackTable(), listeners(),
		neighbourLimits6(), ports(), untranslated(), shapers(),
	}
}
