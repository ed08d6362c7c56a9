package main

import (
	"context"
	"fmt"

	"tare/result"
)

// The outcomes of carrying out the fixes that were given.
const (
	mended    = "mended"     // the symptom is gone
	notMended = "not mended" // it is not; a reason follows
)

// mostFixes is how many fixes are carried out, each as the answer to another
// question: a fault of two places is mended in both.
const mostFixes = 3

// mend carries out the fix that the cause was named with, as it was given, and
// looks for the symptom as after the injection. Empty: no verdict that was right
// has a fix that can be carried out as it is.
func (s *stage) mend(ctx context.Context, w wording, cause string, verdicts []verdict) (string, error) {
	var fix *result.Remedy
	var asked question
	for n, v := range verdicts {
		if fix == nil && v.first() == cause {
			fix, asked = v.Remedy, w.ask[n]
		}
	}
	if fix == nil {
		return "", nil
	}
	for range mostFixes {
		if out, err := s.call(ctx, "lab", "exec", "--name", s.name, fix.At, "--", "sh", "-c", fix.Command); err != nil {
			return fmt.Sprintf("%s: %s at %s: %v: %s", notMended, fix.Command, fix.At, err, out), nil
		}
		there, err := s.bitten(ctx, w.bites)
		if err != nil || !there {
			return mended, err
		}
		if fix = s.ask(ctx, asked).Remedy; fix == nil {
			break
		}
	}
	return notMended + ": the symptom stays", nil
}
