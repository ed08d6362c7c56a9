// Package labmain is the main of test binaries that start labs: a lab starts
// the binary that runs again, as its keeper, as agents and as what its networks
// are made of.
package labmain

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"

	"tare/agent"
	"tare/engine"
	"tare/network/kinds"
	"tare/site"
	"tare/test/labtest"
)

// Verbs are what a binary is started as, by its first argument; each gets the
// others.
type Verbs map[string]func(arguments []string) error

// Run runs the tests, or the verb that the binary was started as: one of those
// that every lab needs, or one of more. All that the tests start is marked by
// the name.
func Run(m *testing.M, name string, more Verbs) {
	if len(os.Args) > 1 {
		verbs := everyLab()
		maps.Copy(verbs, more)
		if verb, known := verbs[os.Args[1]]; known {
			exit(verb(os.Args[2:]))
		}
		// A lab started it: were it to test, it would start labs in turn.
		if !strings.HasPrefix(os.Args[1], "-") {
			exit(fmt.Errorf("no verb %q", os.Args[1]))
		}
	}
	if err := os.Setenv(labtest.Mark, fmt.Sprintf("%s-%d", name, os.Getpid())); err != nil {
		exit(err)
	}
	if _, err := labtest.MarkQuickRun(); err != nil {
		exit(err)
	}
	os.Exit(m.Run())
}

func everyLab() Verbs {
	return Verbs{
		site.KeeperVerb: func([]string) error { return keep() },
		agent.Verb: func([]string) error {
			return agent.Serve(context.Background(), os.Stdin, os.Stdout, "test")
		},
		site.OutpostVerb: func(a []string) error {
			staged := ""
			if len(a) > 1 {
				staged = a[1] // after --staged
			}
			return site.ServeOutpost(context.Background(), os.Stdin, os.Stdout, "test", staged)
		},
		site.HoldVerb:   func(a []string) error { return site.Hold(a[0], os.Stdout) },
		site.KeepVerb:   func(a []string) error { return site.KeepProgram(a[0], os.Stdout) },
		engine.WaitVerb: func([]string) error { engine.Wait(); return nil },
		kinds.RelayVerb: func(a []string) error { return kinds.RunRelay(context.Background(), a, os.Stdout) },
	}
}

// keep refuses the lab of a test whose name says that it needs none.
func keep() error {
	if labtest.OfQuickRun() {
		return errors.New("a quick test starts a lab: rename it TestLab... or TestReal... (docs/testing.md)")
	}
	return site.Keep()
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}
