// Package everything tests the whole: every network that the machine has, in
// one lab, weighed by the command that a user types, and the machine as it was
// afterwards.
package everything
