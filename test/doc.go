// Package test holds what drives the finished command as its users do, and what
// tests share. No other package imports it.
//
//   - agreement: what is known from outside, weighed
//   - cli: the command line, as testscripts
//   - deep: the parts of the deep tier, and which of them are due
//   - docs: what the documents show, executed; docs/cli.md is written by it
//   - everything: all networks in one lab, and the machine as it was afterwards
//   - labmain: the main of test binaries that start labs
//   - labtest: the tiers of tests, what a lab must not leave behind, and the binary
//   - mutants: which changes of the code no test notices
//   - script: commands that scripts share, and the filter of system calls behind which nothing is built
//   - simtest: simulated agents
//   - verified: the digests that the parts of the deep tier last passed with
//   - verdict: reads `go test -json` and lets no skipped test pass
package test
