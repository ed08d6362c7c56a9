package diagnosis

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"tare/catalog"
	"tare/diagnose"
	"tare/result"
)

// trial is one injection on one network, or a clean lab where it has no cause.
type trial struct {
	Cause    string    `json:"cause,omitempty"`
	Wording  string    `json:"wording,omitempty"`
	Network  string    `json:"network"`
	Path     string    `json:"path"`
	Typed    []typed   `json:"typed,omitempty"` // what was done, and where
	Verdicts []verdict `json:"verdicts"`
	Mended   string    `json:"mended,omitempty"` // what carrying out the fixes did
	Error    string    `json:"error,omitempty"`  // why there is no verdict
}

// typed is a script and the place where it was typed.
type typed struct {
	At     string `json:"at"`
	Script string `json:"script"`
}

// verdict is what a question was answered with.
type verdict struct {
	Asked   string         `json:"asked"`
	Found   []string       `json:"found"`            // causes, the first first
	Remedy  *result.Remedy `json:"remedy,omitempty"` // of the first
	Seconds float64        `json:"seconds"`
	Error   string         `json:"error,omitempty"`
}

// first is the cause that a verdict names before all others; empty: none.
func (v verdict) first() string {
	if len(v.Found) == 0 {
		return ""
	}
	return v.Found[0]
}

// take builds the lab, injects, makes sure of the symptom and asks. Without a cause the lab is clean.
func (b bench) take(ctx context.Context, c cause, w wording, at spot) trial {
	t := trial{Cause: c.ID, Wording: w.Name, Network: at.network(), Path: at.path(), Verdicts: []verdict{}}
	fmt.Fprintln(os.Stderr, t.name(), "on", at)
	s, err := open(ctx, b.tare, at)
	if err == nil {
		err = errors.Join(b.onStage(ctx, s, w, &t), s.Close())
	}
	if err != nil {
		t.Error = err.Error()
		fmt.Fprintln(os.Stderr, "  "+strings.ReplaceAll(t.Error, "\n", "\n  "))
	}
	return t
}

func (t trial) name() string {
	if t.Cause == "" && t.Wording == "" {
		return "clean"
	}
	return strings.TrimSpace(t.Cause + " " + t.Wording)
}

func (b bench) onStage(ctx context.Context, s *stage, w wording, t *trial) error {
	if len(w.Inject) > 0 {
		switch there, err := s.bitten(ctx, w.Bites); {
		case err != nil:
			return err
		case there:
			return errors.New("the symptom is there before the injection: its check proves nothing")
		}
		for _, one := range w.Inject {
			t.Typed = append(t.Typed, typed{s.roles[one.At].String(), one.Script})
		}
	}
	if len(w.Inject)+len(w.Bites) > 0 {
		if err := s.inject(ctx, w); err != nil {
			return err
		}
	}
	if !b.asks {
		return nil
	}
	for _, q := range w.Ask {
		t.Verdicts = append(t.Verdicts, s.ask(ctx, q))
	}
	if len(w.Inject) == 0 { // the network as it was built has nothing to undo
		return nil
	}
	var err error
	t.Mended, err = s.mend(ctx, w, t.Cause, t.Verdicts)
	return err
}

// inject brings a cause about, and makes sure that it bites.
func (s *stage) inject(ctx context.Context, w wording) error {
	for _, one := range w.Inject {
		if _, err := s.typeAt(ctx, one); err != nil {
			return fmt.Errorf("inject: %w", err)
		}
	}
	there, err := s.bitten(ctx, w.Bites)
	if err == nil && !there {
		return errors.New("the injection does not bite: the symptom is not there")
	}
	return err
}

// The flags of a run, unless its question sets others.
const (
	askBlocks   = "15" // six give an interval, and leave much undecided on a noisy machine
	askDuration = "150ms"
	askWait     = 3 * time.Minute
)

// argv is a question about a stage, as a user types it.
func (q question) argv(s *stage) []string {
	if q.ofDoctor() {
		argv := []string{"doctor", "--lab", s.Name, "--json"}
		if q == doctorOfAll || s.at.path() == catalog.PublishedPort { // its server is no end that a client dials
			return argv
		}
		return append(argv, "--from", s.ends.Client, "--to", s.ends.Server)
	}
	argv := []string{"run", "--lab", s.Name, "--networks", catalog.Baseline + "," + s.at.network(), "--paths", s.at.path(), "--json"}
	return append(append(argv, "--duration", askDuration, "--blocks", askBlocks), q.flags()...)
}

// asked is the question without what differs from lab to lab.
func (q question) asked() string {
	if q.ofDoctor() {
		return "tare doctor"
	}
	return "tare run " + strings.Join(q.flags(), " ")
}

// ask puts a question and reads which causes are found. A doctor that finds an
// error ends with 4, a run in which a cell failed with 1.
func (s *stage) ask(ctx context.Context, q question) verdict {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	start := time.Now()
	out, err := s.tare.Call(ctx, "", q.argv(s)...)
	v := verdict{Asked: q.asked(), Found: []string{}, Seconds: time.Since(start).Seconds()}
	var status *exec.ExitError
	if err == nil || errors.As(err, &status) && (status.ExitCode() == 1 || status.ExitCode() == 4) {
		err = v.read(out, s.at.network(), err)
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
			fix, asked = v.Remedy, w.Ask[n]
		}
	}
	if fix == nil {
		return "", nil
	}
	for range mostFixes {
		for _, step := range fix.Steps() {
			if out, err := s.Type(ctx, "", step.At, "sh", "-c", step.Command); err != nil {
				return fmt.Sprintf("%s: %s at %s: %v: %s", notMended, step.Command, step.At, err, out), nil
			}
		}
		there, err := s.bitten(ctx, w.Bites)
		if err != nil {
			return "", err
		}
		if !there {
			return s.lasting(ctx, cause, asked), nil
		}
		if fix = s.ask(ctx, asked).Remedy; fix == nil {
			break
		}
	}
	return notMended + ": the symptom stays", nil
}

// lasting is mended where the symptom is gone and the doctor names the cause no more.
func (s *stage) lasting(ctx context.Context, cause string, asked question) string {
	if asked != doctor {
		return mended
	}
	if again := s.ask(ctx, doctor); slices.Contains(again.Found, cause) {
		return notMended + ": the symptom is gone, and tare doctor names the cause again"
	}
	return mended
}
