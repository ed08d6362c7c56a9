// Package mesh measures what a mesh of many nodes costs its controller, and how well it names
// who is slow.
//
//	go run ./bench mesh [-nodes 10,100,1000,5000]
//
// The agents are simulated, in this process: they exchange with the controller the messages that
// real ones do, in the same frames, through pipes in memory, and answer at once. What windows
// measure comes from a world in which it is known who is slow. Each size of a mesh and each
// slowness has a process for itself, so that its peak of memory is known.
//
//	go run ./bench mesh -lab 10 [-kinds clean,node,link] [-tare dist/tare] [-keep FOLDER]
//
// builds labs of ten hosts instead, of which none is slow, a node is, or a link, runs tare mesh
// on each, and writes who was named. It needs root.
package mesh

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"tare/bench/harness"
)

// Run is the experiment.
func Run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("mesh", flag.ExitOnError)
	nodes := flags.String("nodes", "10,100,1000,5000", "numbers of nodes")
	output := flags.String("o", "", harness.OutputDoc)
	one := flags.Int("one", 0, "measure meshes of so many nodes alone and print the figures as JSON, for this program itself")
	slow := flags.Float64("slow", 0, "by how much some of their nodes are slow")
	runs := flags.Int("lab", 0, "run tare mesh so often on labs of each kind instead, and write who was named")
	kinds := flags.String("kinds", "", "kinds of these labs, a comma list: clean, node, link (default: all)")
	var by trying
	flags.StringVar((*string)(&by.tare), "tare", harness.DefaultTare, "the tare that is run on labs")
	flags.StringVar(&by.keep, "keep", "", "a folder for the results of labs (default: none is kept)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *one > 0 {
		f, err := measure(ctx, *one, *slow)
		if err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(f)
	}
	machine, err := harness.Look()
	if err != nil {
		return err
	}
	p := page{Machine: machine, Command: harness.Command(flags)}
	if *runs > 0 {
		return p.labs(ctx, *output, by, *kinds, *runs)
	}
	return p.scale(ctx, *output, *nodes)
}

// page is what scale.md and labs.md are made of.
type page struct {
	Machine harness.Machine
	Command string
	Sizes   [][]figures // for each number of nodes, from the meshes in which nobody is slow on
	Labs    []string    // rows
}

//go:embed scale.md
var scalePage string

// scale measures meshes of each size and writes the page.
func (p page) scale(ctx context.Context, output, nodes string) error {
	for _, text := range strings.Split(nodes, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 10 {
			return fmt.Errorf("%q: a number of nodes must be 10 at least", text)
		}
		of := []figures{}
		for _, slow := range []float64{0, 0.05, 0.1, 0.2} {
			fmt.Fprintf(os.Stderr, "mesh: %d nodes, some slow by %g\n", n, slow)
			f, err := apart(ctx, n, slow)
			if err != nil {
				return err
			}
			of = append(of, f)
		}
		p.Sizes = append(p.Sizes, of)
	}
	return harness.Write(output, "scale", scalePage, p)
}

// apart measures in a process by itself.
func apart(ctx context.Context, nodes int, slow float64) (f figures, err error) {
	own, err := os.Executable()
	if err != nil {
		return f, err
	}
	cmd := exec.CommandContext(ctx, own, "mesh", "-one", strconv.Itoa(nodes), "-slow", fmt.Sprint(slow))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	if err := cmd.Run(); err != nil {
		return f, fmt.Errorf("measure %d nodes: %w", nodes, err)
	}
	return f, json.Unmarshal(out.Bytes(), &f)
}

// Worst are the most of each cost among the meshes of each size.
func (p page) Worst() (all []figures) {
	for _, of := range p.Sizes {
		w := of[0]
		w.Again, w.Failed = 0, 0
		for _, f := range of {
			w.Again, w.Failed = max(w.Again, f.AgainEach()), w.Failed+f.Failed
			w.HeapBytes, w.RSSBytes = max(w.HeapBytes, f.HeapBytes), max(w.RSSBytes, f.RSSBytes)
			if f.RoundWall > w.RoundWall {
				w.RoundWall, w.RoundCPU = f.RoundWall, f.RoundCPU
			}
			w.JudgeCPU, w.ResultBytes = max(w.JudgeCPU, f.JudgeCPU), max(w.ResultBytes, f.ResultBytes)
		}
		all = append(all, w)
	}
	return all
}

// AgainEach is how many windows measured suspects again in a mesh.
func (f figures) AgainEach() int { return f.Again / max(1, f.Runs) }

// size is a number of bytes, and span a time, as the page shows them.
type (
	size uint64
	span time.Duration
)

func (b size) String() string { return fmt.Sprintf("%.1f MiB", float64(b)/(1<<20)) }

func (d span) String() string { return fmt.Sprintf("%.3f s", time.Duration(d).Seconds()) }
