package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tare/result"
)

// labHosts is how many hosts a lab has.
const labHosts = 10

// rules is how many rules of nftables a slow packet is compared with.
const rules = 1500

// labKind is what is done to the hosts of a lab, and who is to be named.
type labKind struct {
	name  string
	named []string // as whom has them
	// at and rules are the host that is made slow, and by what; empty: none is.
	at    string
	rules func() string
}

func labKinds() []labKind {
	return []labKind{
		{name: "clean", named: []string{}},
		{name: "node", named: []string{"node h3"}, at: "h3", rules: func() string { return table("", many("in")) }},
		{name: "link", named: []string{"link h4 h7"}, at: "h4", rules: func() string {
			return table("add chain ip many slow\n", many("slow")) + "add rule ip many in ip saddr 10.0.0.7 jump slow\n"
		}},
	}
}

// table is a script of nftables: a hook for what arrives, and more.
func table(chains, more string) string {
	return "add table ip many\nadd chain ip many in { type filter hook input priority 0; }\n" + chains + more
}

// many is rules that no packet matches.
func many(chain string) string {
	return strings.Repeat("add rule ip many "+chain+" ip saddr 9.9.9.9 drop\n", rules)
}

// labTrial is one run on a lab.
type labTrial struct {
	kind  string
	right bool // exactly those were named who are slow
	named []string
	value float64 // how slow the first one is
	took  time.Duration
}

// trying is what runs a mesh, and the folder that keeps what it gives; empty: none does.
type trying struct{ tare, keep string }

// labs runs tare mesh so often on labs of each kind, in turns, and prints who was named. A lab is
// built for each run.
func labs(ctx context.Context, w io.Writer, by trying, only string, runs int) error {
	kinds := slices.DeleteFunc(labKinds(), func(k labKind) bool { return only != "" && !slices.Contains(strings.Split(only, ","), k.name) })
	if len(kinds) == 0 {
		return fmt.Errorf("-kinds %s: choose among %s", only, strings.Join(result.Names(labKinds(), func(k labKind) string { return k.name }), ", "))
	}
	var trials []labTrial
	for run := range runs {
		for _, k := range kinds {
			t, err := k.try(ctx, by, uint64(run+1))
			if err != nil {
				return err
			}
			fmt.Fprintf(os.Stderr, "mesh: %s, run %d: named %s, right: %v, %s\n", k.name, run+1, oneOf(t.named), t.right, t.took.Round(time.Second))
			trials = append(trials, t)
		}
	}
	_, err := io.WriteString(w, labTable(kinds, trials))
	return err
}

// try builds a lab, makes one of its hosts slow, and asks who is.
func (k labKind) try(ctx context.Context, by trying, seed uint64) (t labTrial, err error) {
	tare := by.tare
	name := fmt.Sprintf("mesh-%d", os.Getpid())
	if _, err := call(ctx, tare, "", "lab", "up", "host", "--name", name, "--hosts", fmt.Sprint(labHosts), "--pin", "same"); err != nil {
		return t, err
	}
	defer func() {
		_, downErr := call(context.WithoutCancel(ctx), tare, "", "lab", "down", "--name", name)
		err = errors.Join(err, downErr)
	}()
	if k.at != "" {
		if _, err := call(ctx, tare, k.rules(), "lab", "exec", "--name", name, k.at, "--", "nft", "-f", "-"); err != nil {
			return t, err
		}
	}
	begun := time.Now()
	out, err := call(ctx, tare, "", "mesh", "--lab", name, "--seed", fmt.Sprint(seed), "--json")
	if err != nil {
		return t, err
	}
	if by.keep != "" {
		if err := os.WriteFile(filepath.Join(by.keep, fmt.Sprintf("%s-%d.json", k.name, seed)), out, 0o644); err != nil {
			return t, err
		}
	}
	res, err := result.Read(bytes.NewReader(out))
	if err != nil {
		return t, err
	}
	if res.Mesh == nil {
		return t, errors.New("read result: it is no mesh")
	}
	return k.judge(res.Mesh, time.Since(begun)), nil
}

// judge holds who is named against who is slow.
func (k labKind) judge(m *result.Mesh, took time.Duration) labTrial {
	t := labTrial{kind: k.name, named: whom(m), took: took}
	t.right = slices.Equal(t.named, k.named)
	if len(m.Named) > 0 {
		t.value = m.Named[0].Value
	}
	return t
}

// whom are those that are named, as "node h3" or "link h4 h7".
func whom(m *result.Mesh) []string {
	all := []string{}
	for _, n := range m.Named {
		all = append(all, strings.Join(append([]string{n.Kind}, n.Of...), " "))
	}
	slices.Sort(all)
	return all
}

func oneOf(named []string) string {
	if len(named) == 0 {
		return "nobody"
	}
	return strings.Join(named, ", ")
}

// labTable has a row for each kind.
func labTable(kinds []labKind, trials []labTrial) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| lab of %d hosts | to be named | right | how slow | seconds of a run | named otherwise |\n|---|---|---|---|---|---|\n", labHosts)
	for _, k := range kinds {
		right, runs := 0, 0
		var took, slow []float64
		var wrong []string
		for _, t := range trials {
			if t.kind != k.name {
				continue
			}
			runs++
			took = append(took, t.took.Seconds())
			if t.right {
				right++
				slow = append(slow, 100*t.value)
			} else {
				wrong = append(wrong, oneOf(t.named))
			}
		}
		effect := "none"
		if k.at != "" && right > 0 {
			effect = fmt.Sprintf("%.0f to %.0f %%", slices.Min(slow), slices.Max(slow))
		}
		if runs > 0 {
			fmt.Fprintf(&b, "| %s | %s | %d of %d | %s | %.0f to %.0f | %s |\n", k.name, oneOf(k.named), right, runs, effect, slices.Min(took), slices.Max(took), strings.Join(wrong, "; "))
		}
	}
	return b.String()
}

// call runs tare, with a text as its input.
func call(ctx context.Context, tare, input string, argv ...string) ([]byte, error) {
	var out, problem bytes.Buffer
	cmd := exec.CommandContext(ctx, tare, argv...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &out, &problem
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("tare %s: %w: %s", strings.Join(argv[:2], " "), err, bytes.TrimSpace(problem.Bytes()))
	}
	return out.Bytes(), nil
}
