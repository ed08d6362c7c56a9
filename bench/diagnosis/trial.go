package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

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

// take builds the lab, injects, makes sure of the symptom and asks.
func (b bench) take(ctx context.Context, c cause, w wording, at spot) trial {
	t := trial{Cause: c.id, Wording: w.name, Network: at.network, Path: at.path, Verdicts: []verdict{}}
	fmt.Fprintf(os.Stderr, "%s %s on %s %s\n", c.id, w.name, at.network, at.path)
	s, err := open(ctx, b.tare, at)
	if err == nil {
		err = errors.Join(b.onStage(ctx, s, w, &t), s.close())
	}
	if err != nil {
		t.Error = err.Error()
		fmt.Fprintln(os.Stderr, "  "+strings.ReplaceAll(t.Error, "\n", "\n  "))
	}
	return t
}

func (b bench) onStage(ctx context.Context, s *stage, w wording, t *trial) error {
	if len(w.inject) > 0 {
		switch there, err := s.bitten(ctx, w.bites); {
		case err != nil:
			return err
		case there:
			return errors.New("the symptom is there before the injection: its check proves nothing")
		}
	}
	for _, one := range w.inject {
		t.Typed = append(t.Typed, typed{s.roles[one.at].String(), strings.TrimSpace(one.script)})
		if _, err := s.typeAt(ctx, one); err != nil {
			return fmt.Errorf("inject: %w", err)
		}
	}
	switch there, err := s.bitten(ctx, w.bites); {
	case err != nil:
		return err
	case !there:
		return errors.New("the injection does not bite: the symptom is not there")
	}
	if !b.asks {
		return nil
	}
	for _, q := range w.ask {
		t.Verdicts = append(t.Verdicts, s.ask(ctx, q))
	}
	if len(w.inject) == 0 { // the network as it was built has nothing to undo
		return nil
	}
	var err error
	t.Mended, err = s.mend(ctx, w, t.Cause, t.Verdicts)
	return err
}

// clean asks about a lab to which nothing was done.
func (b bench) clean(ctx context.Context, at spot) trial {
	t := trial{Network: at.network, Path: at.path, Verdicts: []verdict{}}
	fmt.Fprintf(os.Stderr, "clean %s %s\n", at.network, at.path)
	s, err := open(ctx, b.tare, at)
	if err == nil {
		for _, q := range []question{doctor(), run("tcp_stream"), run("tcp_rr")} {
			t.Verdicts = append(t.Verdicts, s.ask(ctx, q))
		}
		err = s.close()
	}
	if err != nil {
		t.Error = err.Error()
	}
	return t
}
