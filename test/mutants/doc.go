// Package mutants asks what tests are worth. gremlins, a mutation tester, changes one operator
// at a time in the packages that decide what a result says; such a mutant is dead once a
// quick test of its package fails. What lives is listed in alive.txt, with why.
//
//	go test ./test/mutants -run TestDeep -v [-args -one-in 1 -workers 1]
//
// gremlins compiles and links a test binary for each mutant. So only a sample is tried, always
// the same one; -one-in 1 tries every mutant, and -one-in 40 few.
package mutants
