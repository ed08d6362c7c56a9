package mesh

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tare/bench/harness"
	"tare/result"
)

// labHosts is how many hosts a lab has, and rules with how many of nftables a slow packet is compared.
const (
	labHosts = 10
	rules    = 1500
)

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
	right bool // exactly those were named who are slow
	named []string
	value float64 // how slow the first one is
	took  time.Duration
}

// trying is what runs a mesh, and the folder that keeps what it gives; empty: none does.
type trying struct {
	tare harness.Tare
	keep string
}

//go:embed labs.md
var labsPage string

// labs runs tare mesh so often on labs of each kind, in turns, and writes who was named. A lab is
// built for each run.
func (p page) labs(ctx context.Context, output string, by trying, only string, runs int) error {
	kinds := slices.DeleteFunc(labKinds(), func(k labKind) bool { return only != "" && !slices.Contains(strings.Split(only, ","), k.name) })
	if len(kinds) == 0 {
		return fmt.Errorf("-kinds %s: choose among %s", only, strings.Join(result.Names(labKinds(), func(k labKind) string { return k.name }), ", "))
	}
	trials := map[string][]labTrial{}
	var turns []harness.Turn
	for _, k := range kinds {
		turns = append(turns, harness.Turn{Name: k.name, Take: func(ctx context.Context, round int) error {
			t, err := k.try(ctx, by, uint64(round+1))
			if err == nil {
				trials[k.name] = append(trials[k.name], t)
				fmt.Fprintf(os.Stderr, "mesh: %s named %s, right: %v, %s\n", k.name, oneOf(t.named), t.right, t.took.Round(time.Second))
			}
			return err
		}})
	}
	if _, err := harness.Turns(ctx, "mesh", runs, turns); err != nil {
		return err
	}
	for _, k := range kinds {
		p.Labs = append(p.Labs, k.row(trials[k.name]))
	}
	return harness.Write(output, "mesh-labs", labsPage, p)
}

// try builds a lab, makes one of its hosts slow, and asks who is.
func (k labKind) try(ctx context.Context, by trying, seed uint64) (t labTrial, err error) {
	lab, err := by.tare.Up(ctx, "host", "--hosts", fmt.Sprint(labHosts), "--pin", "same")
	if err != nil {
		return t, err
	}
	defer func() { err = errors.Join(err, lab.Close()) }()
	if k.at != "" {
		if _, err := lab.Type(ctx, k.rules(), k.at, "nft", "-f", "-"); err != nil {
			return t, err
		}
	}
	begun := time.Now()
	out, err := by.tare.Call(ctx, "", "mesh", "--lab", lab.Name, "--seed", fmt.Sprint(seed), "--json")
	if err != nil {
		return t, err
	}
	took := time.Since(begun)
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
	return k.judge(res.Mesh, took), nil
}

// judge holds who is named against who is slow.
func (k labKind) judge(m *result.Mesh, took time.Duration) labTrial {
	t := labTrial{named: whom(m), took: took}
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

// row is what the runs on labs of a kind came to.
func (k labKind) row(trials []labTrial) string {
	var took, slow []float64
	var wrong []string
	for _, t := range trials {
		took = append(took, t.took.Seconds())
		if t.right {
			slow = append(slow, 100*t.value)
		} else {
			wrong = append(wrong, oneOf(t.named))
		}
	}
	effect := "none"
	if k.at != "" && len(slow) > 0 {
		effect = fmt.Sprintf("%.0f to %.0f %%", slices.Min(slow), slices.Max(slow))
	}
	return fmt.Sprintf("%s | %s | %d of %d | %s | %.0f to %.0f | %s", k.name, oneOf(k.named), len(slow), len(trials), effect,
		slices.Min(took), slices.Max(took), strings.Join(wrong, "; "))
}
