// Package test holds what drives the finished command as its users do, and what
// tests share. No other package imports it.
//
//   - agreement: what is known from outside, weighed
//   - cli: the command line, as testscripts
//   - docs: what the documents show, executed; docs/cli.md is written by it
//   - everything: all networks in one lab, and the machine as it was afterwards
//   - labmain: the main of test binaries that start labs
//   - labtest: the tiers of tests, what a lab must not leave behind, and the binary
//   - verdict: reads `go test -json` and lets no skipped test pass
package test
