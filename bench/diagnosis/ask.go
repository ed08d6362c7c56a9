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

	"tare/network"
	"tare/result"
)

// What a run is asked for with, unless its question says otherwise.
const (
	askBlocks   = "6" // the fewest that give an interval
	askDuration = "200ms"
	askWait     = 3 * time.Minute
)

// argv is a question about a stage, as a user types it.
func (q question) argv(s *stage) []string {
	if q.verb == doctorVerb {
		argv := []string{"doctor", "--lab", s.name}
		if s.at.path != network.PublishedPort { // its server is no end that a client dials
			argv = append(argv, "--from", s.ends.Client, "--to", s.ends.Server)
		}
		return append(argv, "--json")
	}
	argv := []string{"run", "--lab", s.name, "--networks", network.Baseline + "," + s.at.network, "--paths", s.at.path, "--json"}
	if !slices.Contains(q.flags, "--duration") {
		argv = append(argv, "--duration", askDuration)
	}
	return append(append(argv, "--blocks", askBlocks), q.flags...)
}

// asked is the question without what differs from lab to lab.
func (q question) asked() string {
	return strings.TrimSpace("tare " + q.verb + " " + strings.Join(q.flags, " "))
}

// ask puts a question and reads which causes are found. A tare that finds an
// error ends with 1, and so does a run in which a cell failed.
func (s *stage) ask(ctx context.Context, q question) verdict {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	start := time.Now()
	out, err := s.call(ctx, q.argv(s)...)
	v := verdict{Asked: q.asked(), Found: []string{}, Seconds: time.Since(start).Seconds()}
	var status *exec.ExitError
	if err == nil || errors.As(err, &status) && status.ExitCode() == 1 {
		v.Found, err = read(out, s.at.network, err)
	}
	if err != nil {
		v.Error = err.Error()
	}
	return v
}

// read takes the causes from a result or from a doctor's findings, each once.
// The question was about the network, so what a result says of its cells comes
// before what it says of the whole run, which touches the baseline as much.
func read(out []byte, networkName string, problem error) ([]string, error) {
	var said struct {
		Findings []struct {
			ID string `json:"id"`
		} `json:"findings"`
		Cells []struct {
			Network  string           `json:"network"`
			Findings []result.Finding `json:"findings"`
		} `json:"cells"`
	}
	if err := json.Unmarshal(out, &said); err != nil {
		return []string{}, fmt.Errorf("read the verdict: %w", errors.Join(err, problem))
	}
	found := []string{}
	add := func(id string) {
		if !slices.Contains(found, id) {
			found = append(found, id)
		}
	}
	for _, c := range said.Cells {
		for _, f := range c.Findings {
			if c.Network == networkName {
				add(f.ID)
			}
		}
	}
	for _, f := range said.Findings {
		add(f.ID)
	}
	return found, nil
}
