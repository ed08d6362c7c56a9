// Package experiment turns a plan into a result: it builds the lab that the
// plan asks for, visits every cell in randomised interleaved blocks, and weighs
// each network against the baseline of its path.
package experiment
