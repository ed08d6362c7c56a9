// Package probe reads the kernel's counters around a run, one file per source.
//
// Each source has a pure parser over bytes and a reader that takes the root
// folder: "/" in production, a captured tree in tests. Counters only grow; what
// a run cost is the difference of two reads.
package probe
