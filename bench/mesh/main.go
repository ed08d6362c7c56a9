// Command mesh measures what a mesh of many nodes costs its controller, and how well it names
// who is slow.
//
//	go run ./bench/mesh [-nodes 10,100,1000,5000] [-o docs/scale.md]
//
// The agents are simulated, in this process: they exchange with the controller the messages that
// real ones do, in the same frames, through pipes in memory, and answer at once. What windows
// measure comes from a world in which it is known who is slow. Each size of a mesh and each
// slowness has a process for itself, so that its peak of memory is known.
//
//	go run ./bench/mesh -lab 10 [-kinds clean,node,link] [-tare dist/tare] [-keep FOLDER]
//
// builds labs of ten hosts instead, of which none is slow, a node is, or a link, runs tare mesh
// on each, and prints who was named. It needs root.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"time"

	"tare/probe"
)

const usualNodes = "10,100,1000,5000"

func main() {
	nodes := flag.String("nodes", usualNodes, "numbers of nodes")
	output := flag.String("o", "docs/scale.md", "file to write; - for standard output")
	one := flag.Int("one", 0, "measure meshes of so many nodes alone and print the figures as JSON, for this program itself")
	slow := flag.Float64("slow", 0, "by how much some of their nodes are slow")
	runs := flag.Int("lab", 0, "run tare mesh so often on labs of each kind, and print who was named; write no page")
	kinds := flag.String("kinds", "", "kinds of these labs, a comma list: clean, node, link (default: all)")
	tare := flag.String("tare", "dist/tare", "the tare that is run on labs")
	keep := flag.String("keep", "", "a folder for the results of labs (default: none is kept)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	switch {
	case *one > 0:
		err = printOne(ctx, os.Stdout, *one, *slow)
	case *runs > 0:
		err = labs(ctx, os.Stdout, trying{*tare, *keep}, *kinds, *runs)
	default:
		err = execute(ctx, *nodes, *output)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench mesh:", err)
		os.Exit(1)
	}
}

// execute measures and writes the page.
func execute(ctx context.Context, nodes, output string) error {
	p := page{command: command(nodes), date: time.Now().UTC().Format(time.DateOnly), environment: probe.Environment("/")}
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
		p.sizes = append(p.sizes, of)
	}
	if output == "-" {
		_, err := io.WriteString(os.Stdout, p.render())
		return err
	}
	return os.WriteFile(output, []byte(p.render()), 0o644)
}

// command is the one that repeats this.
func command(nodes string) string {
	if nodes == usualNodes {
		return "go run ./bench/mesh"
	}
	return "go run ./bench/mesh -nodes " + nodes
}

// apart measures in a process by itself.
func apart(ctx context.Context, nodes int, slow float64) (f figures, err error) {
	own, err := os.Executable()
	if err != nil {
		return f, err
	}
	cmd := exec.CommandContext(ctx, own, "-one", strconv.Itoa(nodes), "-slow", fmt.Sprint(slow))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	if err := cmd.Run(); err != nil {
		return f, fmt.Errorf("measure %d nodes: %w", nodes, err)
	}
	return f, json.Unmarshal(out.Bytes(), &f)
}

func printOne(ctx context.Context, w io.Writer, nodes int, slow float64) error {
	f, err := measure(ctx, nodes, slow)
	if err != nil {
		return err
	}
	return json.NewEncoder(w).Encode(f)
}
