// Package weigh turns the samples of a result into what people read: values, tolls
// and verdicts. It alone knows which cells are compared with each other, how their
// blocks are paired, and when a difference counts; experiment, report, diagnose
// and cases ask it.
//
//   - group.go: the groups of a result, and a cell's counterparts in them
//   - block.go: a quantity's values block by block, and pairs of them
//   - scale.go: what differences of a run are held against
//   - judge.go: the one judge of a difference, alone or among many
//   - result.go, metric.go: all groups of a result weighed, cell by cell
//   - pooled.go: percentiles over the windows of a cell
//   - ceiling.go: what the wire can carry
//   - layer4.go: what round trips and bulk predict of an application
//   - ladder.go: what each network adds to its parent
//   - compare.go, gates.go: a result compared with an older one, and limits
//   - trend.go, trend_change.go, trend_beside.go, trend_growth.go: results over time
//   - kernels.go: a plan on one kernel compared with it on another
//   - rank.go: networks in the order of their tolls
package weigh
