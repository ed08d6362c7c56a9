package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"tare/catalog"
	"tare/diagnose"
	"tare/result"
)

// The flags of a run, unless its question sets others.
const (
	askBlocks   = "15" // six give an interval, and leave much undecided on a noisy machine
	askDuration = "150ms"
	askWait     = 3 * time.Minute
)

// argv is a question about a stage, as a user types it.
func (q question) argv(s *stage) []string {
	if q.verb == doctorVerb {
		argv := []string{"doctor", "--lab", s.name}
		if s.at.path != catalog.PublishedPort { // its server is no end that a client dials
			argv = append(argv, "--from", s.ends.Client, "--to", s.ends.Server)
		}
		return append(argv, "--json")
	}
	argv := []string{"run", "--lab", s.name, "--networks", catalog.Baseline + "," + s.at.network, "--paths", s.at.path, "--json"}
	if !slices.Contains(q.flags, "--duration") {
		argv = append(argv, "--duration", askDuration)
	}
	return append(append(argv, "--blocks", askBlocks), q.flags...)
}

// asked is the question without what differs from lab to lab.
func (q question) asked() string {
	return strings.TrimSpace("tare " + q.verb + " " + strings.Join(q.flags, " "))
}

// ask puts a question and reads which causes are found. A doctor that finds an
// error ends with 4, a run in which a cell failed with 1.
func (s *stage) ask(ctx context.Context, q question) verdict {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	start := time.Now()
	out, err := s.call(ctx, q.argv(s)...)
	v := verdict{Asked: q.asked(), Found: []string{}, Seconds: time.Since(start).Seconds()}
	var status *exec.ExitError
	if err == nil || errors.As(err, &status) && (status.ExitCode() == 1 || status.ExitCode() == 4) {
		err = v.read(out, s.at.network, err)
	}
	if err != nil {
		v.Error = err.Error()
	}
	return v
}

// read takes the causes from a result or from a doctor's findings, each once.
// Of the whole run and the network's cells those come first that tare prints
// first.
func (v *verdict) read(out []byte, networkName string, problem error) error {
	var answer struct {
		Findings []result.Finding `json:"findings"`
		Cells    []struct {
			Network  string           `json:"network"`
			Findings []result.Finding `json:"findings"`
		} `json:"cells"`
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		return fmt.Errorf("read the verdict: %w", errors.Join(err, problem))
	}
	found := answer.Findings
	for _, c := range answer.Cells {
		if c.Network == networkName {
			found = append(found, c.Findings...)
		}
	}
	diagnose.Rank(found)
	for _, f := range found {
		if len(v.Found) == 0 {
			v.Remedy = f.Remedy
		}
		v.Found = result.AddOnce(v.Found, f.ID)
	}
	return nil
}
