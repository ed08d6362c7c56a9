// Package test stands beside the house: it drives the finished command as its
// users do.
//
//   - cli: the command line, as testscripts
//   - docs: what the documents show, executed; docs/cli.md is written by it
//   - verdict: reads `go test -json` and lets no skipped test pass
package test
