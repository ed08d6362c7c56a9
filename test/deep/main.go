// Command deep runs the parts of the deep tier: what takes too long for `make test`, each part
// alone by name. A part that passes writes the digest of its inputs into test/verified/PART;
// a part whose inputs have that digest is not due.
//
//	go run ./test/deep            all parts
//	go run ./test/deep due        those whose inputs changed since they last passed, as CI does
//	go run ./test/deep list       what each part holds, and which are due
//	go run ./test/deep PART...    some of them
//
// It needs root, and what `make packages parts build` makes.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	err := toRoot()
	if err == nil {
		err = run(ctx, os.Args[1:], os.Stdout)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "deep: %v\n", err)
		os.Exit(1)
	}
}

// toRoot enters the repository's root.
func toRoot() error {
	root, err := exec.Command("git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		return fmt.Errorf("find the repository's root: %w: run it in a checkout", err)
	}
	return os.Chdir(strings.TrimSpace(string(root)))
}

func run(ctx context.Context, args []string, out io.Writer) error {
	parts := allParts()
	switch {
	case len(args) == 0:
		return runParts(ctx, parts, out)
	case slices.Equal(args, []string{"list"}):
		return list(parts, out)
	case slices.Equal(args, []string{"due"}):
		due, err := dueOf(parts, out)
		if err != nil {
			return err
		}
		return runParts(ctx, due, out)
	}
	var asked []part
	for _, name := range args {
		at := slices.IndexFunc(parts, func(p part) bool { return p.name == name })
		if at < 0 {
			return fmt.Errorf("there is no part %q: there are %s", name, strings.Join(namesOf(parts), ", "))
		}
		asked = append(asked, parts[at])
	}
	return runParts(ctx, asked, out)
}

func namesOf(parts []part) (names []string) {
	for _, p := range parts {
		names = append(names, p.name)
	}
	return names
}

// list prints a line for each part.
func list(parts []part, out io.Writer) error {
	for _, p := range parts {
		due, err := p.due()
		if err != nil {
			return err
		}
		state := "verified"
		if due {
			state = "due"
		}
		fmt.Fprintf(out, "%-12s %-8s %s\n", p.name, state, p.doc)
	}
	return nil
}

// dueOf are the parts whose inputs changed; it prints a line for each of the others.
func dueOf(parts []part, out io.Writer) (due []part, err error) {
	for _, p := range parts {
		is, wrong := p.due()
		err = errors.Join(err, wrong)
		switch {
		case is && p.asked:
			fmt.Fprintf(out, "deep: %s: due, and not tried here: make deep PARTS=%s\n", p.name, p.name)
		case is:
			due = append(due, p)
		case wrong == nil:
			fmt.Fprintf(out, "deep: %s: passed with these inputs already\n", p.name)
		}
	}
	return due, err
}
