// Package mutants asks what tests are worth. gremlins, a mutation tester, finds the operators
// of the packages that decide what a result says; one is changed at a time, and such a mutant is
// dead once a quick test of its package fails. What lives is listed in alive.txt, with why.
//
//	go test ./test/mutants -run TestDeep -v [-args -one-in 1 | -only stats/plan.go]
//
// A test binary is compiled and linked for each mutant. So only a sample is tried, always
// the same one; -one-in 1 tries every mutant, -one-in 40 few, and -only those of a file or a line.
// Packages are tried beside each other (-parallel).
package mutants
