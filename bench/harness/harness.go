// Package harness is what the experiments of bench share: tare as a user calls it, labs, turns in random
// order, a look at whether the machine is quiet, meters of processes, and the page of what was found.
package harness

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/template"
	"time"

	"go.yaml.in/yaml/v3"

	"tare/probe"
	"tare/result"
)

// Tare is the path of the program that is measured. It is called as a user calls it.
type Tare string

// DefaultTare is where make build puts it.
const DefaultTare = "dist/tare"

// endWait is how long a program that was interrupted may take to remove what it made.
const endWait = 10 * time.Second

// Call runs tare with a text as its input. It gives what tare printed, also where its exit status
// is not 0, which is an error that wraps exec.ExitError.
func (t Tare) Call(ctx context.Context, input string, argv ...string) ([]byte, error) {
	var out, problem bytes.Buffer
	cmd := exec.CommandContext(ctx, string(t), argv...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &out, &problem
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // it removes its lab
	cmd.WaitDelay = endWait
	switch err := cmd.Run(); {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("call tare: %w: make build, or name another with -tare", err)
	case err != nil:
		return out.Bytes(), fmt.Errorf("tare %s: %w: %s", argv[0], errors.Join(err, ctx.Err()), bytes.TrimSpace(problem.Bytes()))
	}
	return out.Bytes(), nil
}

// Result is what a verb of tare with these arguments measures.
func (t Tare) Result(ctx context.Context, argv ...string) (*result.Result, error) {
	out, err := t.Call(ctx, "", append(argv, "--json")...)
	if err != nil {
		return nil, err
	}
	return result.Read(bytes.NewReader(out))
}

// Turn is what is measured in turn with others. Take gets the number of the round, from 0.
type Turn struct {
	Name string
	Take func(ctx context.Context, round int) error
}

// Turns takes each turn once in every round, in random order, so that a machine that gets noisier
// disturbs all alike. It ends at the first error, or with ctx, and gives how many rounds are complete.
func Turns(ctx context.Context, of string, rounds int, turns []Turn) (complete int, err error) {
	for round := range rounds {
		for _, n := range rand.Perm(len(turns)) {
			fmt.Fprintf(os.Stderr, "%s: round %d of %d, %s\n", of, round+1, rounds, turns[n].Name)
			if err := turns[n].Take(ctx, round); err != nil || ctx.Err() != nil {
				return round, errors.Join(err, ctx.Err())
			}
		}
	}
	return rounds, nil
}

// Machine is where something is measured.
type Machine struct {
	result.Environment
	Busy float64 // CPUs that other work kept busy before
	Date string  // of today, UTC
}

// quiet is how many CPUs other work may keep busy on a machine that measures.
const quiet = 0.1

// Look looks for a second at what the machine does besides, and says so where it is not quiet.
func Look() (Machine, error) {
	busy, err := probe.ForeignCPU("/", time.Second)
	if busy > quiet {
		fmt.Fprintf(os.Stderr, "bench: other work keeps %.1f CPUs busy: figures are of a noisy machine\n", busy)
	}
	m := Machine{probe.Environment("/"), busy, today()}
	if m.Privilege = "an ordinary user"; os.Geteuid() == 0 {
		m.Privilege = "root"
	}
	return m, err
}

func (m Machine) String() string {
	return fmt.Sprintf("Linux %s, %s, %d CPUs, of which other work kept %.1f busy before", m.Kernel, m.CPUModel, m.CPUs, m.Busy)
}

func today() string { return time.Now().UTC().Format(time.DateOnly) }

// Command is what measures again: the flags that were set, and what follows them, but not whose tare
// it was, nor where pages and results went.
func Command(flags *flag.FlagSet) string {
	text := "go run ./bench " + flags.Name()
	flags.Visit(func(f *flag.Flag) {
		switch f.Name {
		case "tare", "o", "json", "keep", "from":
			return
		case "against":
			text += " -against OLD"
			return
		}
		text += " -" + f.Name
		if value, is := f.Value.(interface{ IsBoolFlag() bool }); !is || !value.IsBoolFlag() {
			text += " " + f.Value.String()
		} else if f.Value.String() != "true" {
			text += "=" + f.Value.String()
		}
	})
	if flags.NArg() > 0 {
		text += " -- " + strings.Join(flags.Args(), " ")
	}
	return text
}

// results is where pages go, a folder for each day.
const results = "bench/results"

// OutputDoc documents the flag of the file that Write writes.
const OutputDoc = "file to write; - for standard output (default: a page of today in " + results + ")"

// Write writes a page, which a text/template makes of what was measured, to a file; "-": to standard
// output; empty: to the page of that name and of today. Nothing of an older page is kept.
func Write(output, name, page string, measured any) error {
	made, err := template.New(name).Funcs(words()).Parse(page)
	if err != nil {
		return fmt.Errorf("read the template of %s: %w", name, err)
	}
	var text bytes.Buffer
	if err := made.Execute(&text, measured); err != nil {
		return fmt.Errorf("write the page of %s: %w", name, err)
	}
	switch output {
	case "-":
		_, err := io.Copy(os.Stdout, &text)
		return err
	case "":
		output = filepath.Join(results, today(), name+".md")
		if _, err := os.Stat(filepath.Dir(results)); err != nil {
			_, copyErr := io.Copy(os.Stdout, &text)
			return errors.Join(fmt.Errorf("write %s: %w: run it at the repository's root, or name another file with -o", output, err), copyErr)
		}
		if err := os.MkdirAll(filepath.Dir(output), 0o755); err != nil {
			return err
		}
	}
	return os.WriteFile(output, text.Bytes(), 0o644)
}

// words are the functions that pages have besides the template's.
func words() template.FuncMap {
	return template.FuncMap{
		"join": strings.Join, "line": Line, "percent": Percent, "share": Share, "times": func(by, value float64) float64 { return by * value },
		"yes":    func(is bool) string { return map[bool]string{true: "yes", false: "no"}[is] },
		"repeat": func(text string, of any) string { return strings.Repeat(text, lengthOf(of)) },
		"add":    func(a, b int) int { return a + b },
		"part":   Part,
	}
}

func lengthOf(of any) int {
	if all, is := of.([]string); is {
		return len(all)
	}
	return 0
}

// Line is a text in one line of a table.
func Line(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
}

// Percent is a ratio in percent.
func Percent(ratio float64) string {
	if math.IsNaN(ratio) {
		return "none"
	}
	return fmt.Sprintf("%.1f %%", 100*ratio)
}

// Part is how many of all, if there are any.
func Part(part, of int) string {
	if of == 0 {
		return "none"
	}
	return fmt.Sprintf("%d of %d", part, of)
}

// Share is that with the percentage.
func Share(part, of int) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%d of %d, %.0f %%", part, of, 100*float64(part)/float64(of))
}

// Data reads the data of an experiment, which is YAML. A field that is not known is an error.
func Data(text string, into any) error {
	decoder := yaml.NewDecoder(strings.NewReader(text))
	decoder.KnownFields(true)
	return decoder.Decode(into)
}
