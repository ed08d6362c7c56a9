// Package mesh finds who is slow among several nodes: a node, a link, a group of nodes (a rack,
// a zone), or an uplink that carries less than all pairs together need. It decides which pairs
// are measured and judges what they measured; it does no I/O.
//
// A round has each node in one pair at most. It is run sparse (few pairs at a time), dense (all
// at once), or both. The logarithm of a value is taken to be the sum of the round's level,
// an effect of each of the two nodes, and, between groups, one of each group; median polish
// (Tukey, Exploratory Data Analysis, 1977) separates them, so that a slow link does not make
// its nodes slow, nor a slow node its links. What sticks out by its robust z is suspected
// (Benjamini and Hochberg, Controlling the false discovery rate, J. R. Stat. Soc. B 57, 1995),
// and measured again, alone, in blocks with three partners that are not. Only these blocks name
// somebody. What was not measured is counted, and never taken for slow.
//
//   - schedule.go, incast.go: who is measured with whom
//   - mesh.go: what was measured
//   - fit.go, layout.go: the effects, by median polish, and what they are of
//   - screen.go: who is suspected
//   - check.go: how suspects are measured again, and the effect in each block
//   - judge.go, trial.go: what is found, and which suspects are named
//   - natural.go: how far apart links are that nothing is wrong with
//   - groups.go, dense.go: what is named of groups, and of all pairs at once
//   - missing.go: what was not measured
package mesh
