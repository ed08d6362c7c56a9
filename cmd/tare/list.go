package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tare/catalog"
	"tare/engine"
	"tare/experiment"
	"tare/network/kinds"
	"tare/result"
	"tare/site"
	"tare/workload"
)

// listed is one line of a listing.
type listed struct {
	Name      string   `json:"name"`
	Doc       string   `json:"doc"`
	Available bool     `json:"available"` // nothing is known to be missing
	Probed    bool     `json:"probed"`    // it was set up for a moment
	Fidelity  string   `json:"fidelity"`
	Parent    string   `json:"parent"`
	IPv6      bool     `json:"ipv6"`
	Missing   string   `json:"missing"`
	Get       string   `json:"get"`
	Mute      string   `json:"mute,omitempty"`   // why its published ports reach no server that speaks first
	Paths     []string `json:"paths,omitempty"`  // a network's
	Params    []string `json:"params,omitempty"` // parameters that not all have

	why  string   // the error of this machine
	with []string // a workload's real servers and clients that are installed
}

func listCommand(s streams) *cobra.Command {
	var asJSON, probe bool
	var loading modules
	kinds := []string{"networks", "workloads", "cases"}
	c := &cobra.Command{
		Use:   "list [networks|workloads|cases]",
		Short: "List what runs on this machine, what is missing, how to get it",
		Long: `Lists the networks, the workloads, and the published measurements that tare run
--case repeats, with the programs that this machine lacks for them. With --probe it
sets up each network for a moment in its own lab, so that the list shows what this
machine's kernel can run too, as root.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return wrong("list one kind at a time: %q is too many", args[1])
			}
			if len(args) == 1 && !slices.Contains(kinds, args[0]) {
				return experiment.Unknown("kind", args[0], kinds)
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				kinds = args
			}
			if asJSON && len(kinds) > 1 {
				return wrong("--json lists one kind: tare list networks --json")
			}
			if bool(loading) && !probe {
				return wrong("--load-modules loads what --probe tries: tare list --probe --load-modules")
			}
			if err := loading.load(c.Context(), experiment.Everything()); err != nil {
				return err
			}
			return printLists(c.Context(), s, kinds, asJSON, probe)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "write an array to standard output")
	c.Flags().BoolVar(&probe, "probe", false, "set up each network for a moment, to find out what this machine's kernel has")
	loading.register(c.Flags())
	return c
}

// printLists prints listings one after another. Each network is set up once for all, if they are probed.
func printLists(ctx context.Context, s streams, kinds []string, asJSON, probe bool) (err error) {
	networks := listNetworks()
	if probe {
		if networks, err = probeNetworks(ctx); err != nil {
			return err
		}
	}
	for _, kind := range kinds {
		var all []listed
		switch kind {
		case "networks":
			all = networks
		case "workloads":
			all = listWorkloads()
		case "cases":
			all, err = listCases(networks)
		}
		if err != nil {
			return err
		}
		if asJSON {
			return writeJSON(s.out, all)
		}
		printTable(s.out, all)
	}
	if !probe && slices.Contains(kinds, "networks") {
		fmt.Fprintf(s.out, "What the kernel has was not tried: tare list networks --probe\n")
	}
	return nil
}

// printTable writes an entry for each, folded to fit 100 columns: its name, its
// state on this machine (a network's fidelity), its description and what is
// missing.
func printTable(w io.Writer, all []listed) {
	name, state := 0, 0
	for _, l := range all {
		name, state = max(name, len(l.Name)), max(state, len(l.state()))
	}
	for _, l := range all {
		lines := fold(l.Doc, listWidth-name-state-4)
		if len(l.with) > 0 {
			lines = append(lines, fold("with "+strings.Join(l.with, ", "), listWidth-name-state-4)...)
		}
		if len(l.Paths) > 0 {
			lines = append(lines, fold("on "+strings.Join(l.Paths, ", "), listWidth-name-state-4)...)
		}
		if len(l.Params) > 0 {
			lines = append(lines, fold("takes "+strings.Join(flagNames(l.Params), " "), listWidth-name-state-4)...)
		}
		if l.Mute != "" {
			lines = append(lines, fold("no published port for servers that speak first: "+l.Mute, listWidth-name-state-4)...)
		}
		switch {
		case !l.Available:
			lines = append(lines, fold("needs "+l.Missing+": "+l.Get, listWidth-name-state-4)...)
			lines = append(lines, fold("("+l.why+")", listWidth-name-state-4)...)
		case l.Missing != "":
			lines = append(lines, fold("without "+l.Missing+": "+l.Get, listWidth-name-state-4)...)
		}
		for n, text := range lines {
			if n == 0 {
				fmt.Fprintf(w, "%-*s  %-*s  %s\n", name, l.Name, state, l.state(), text)
			} else {
				fmt.Fprintf(w, "%*s%s\n", name+state+4, "", text)
			}
		}
	}
}

// flagNames are the flags of parameters.
func flagNames(params []string) []string {
	return result.Names(params, func(p string) string { return "--" + flagName(p) })
}

// state is how an entry is available on this machine.
func (l listed) state() string {
	switch {
	case !l.Available:
		return "missing"
	case l.Parent != "" || l.Name == catalog.Baseline:
		return l.Fidelity
	}
	return "runs here"
}

// listWidth is how wide a listing may be, in columns.
const listWidth = 100

// fold breaks a text into lines.
func fold(text string, width int) []string {
	var lines []string
	for _, word := range strings.Fields(text) {
		for ; len(word) > width; word = word[width:] {
			lines = append(lines, word[:width])
		}
		if n := len(lines) - 1; n >= 0 && len(lines[n])+1+len(word) <= width {
			lines[n] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}

func listWorkloads() []listed {
	all := []listed{}
	for _, w := range workload.All() {
		all = append(all, listWorkload(w))
	}
	return all
}

// listWorkload looks for the real servers and clients of a workload. It is available
// without them if tare has its own.
func listWorkload(w workload.Workload) listed {
	entry := listed{Name: w.Name, Doc: w.Doc, Available: true, Fidelity: catalog.Product, Params: w.Workload.Params()}
	var missing, get []string
	lacks := func(p workload.Program) bool {
		_, err := p.Find()
		if err != nil {
			missing, get, entry.why = append(missing, p.Name), append(get, p.Get), err.Error()
		} else {
			entry.with = append(entry.with, p.Name)
		}
		return err != nil
	}
	for _, s := range w.ServedBy {
		if lacks(s.Program) && w.Serve == nil {
			entry.Available = false
		}
	}
	for _, tool := range w.DrivenBy {
		lacks(tool.Program)
	}
	entry.Missing, entry.Get = strings.Join(missing, ", "), strings.Join(get, "; ")
	return entry
}

// listNetworks lists what is known of every network, with the programs that it lacks here.
func listNetworks() []listed {
	all := []listed{}
	for _, n := range kinds.All() {
		entry := listed{Name: n.Name, Doc: n.Doc, Available: true, Fidelity: n.Fidelity, Parent: n.Parent, IPv6: n.IPv6, Paths: n.Paths, Params: n.Own()}
		if missing := new(engine.MissingError); errors.As(n.LacksPrograms(), &missing) {
			entry.Available, entry.Missing, entry.Get, entry.why = false, missing.What, missing.Get, missing.Err.Error()
		}
		all = append(all, entry)
	}
	return all
}

// probeNetworks sets up every network for a moment.
func probeNetworks(ctx context.Context) (all []listed, err error) {
	l, err := site.Start(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	probed, err := l.Probe(ctx)
	if err != nil {
		return nil, err
	}
	all = []listed{}
	for _, p := range probed {
		n, _ := kinds.Find(p.Name)
		entry := listed{Name: n.Name, Doc: n.Doc, Available: p.Error == "", Probed: true, Fidelity: p.Fidelity, Parent: n.Parent, IPv6: n.IPv6, Paths: n.Paths, Mute: p.Mute, Params: n.Own()}
		if !entry.Available {
			entry.Missing, entry.Get, entry.why = p.Missing, p.Get, p.Error
		}
		all = append(all, entry)
	}
	return all, nil
}

// getting is the end of an error: how to get what a network needs.
func getting(b site.Built) string {
	if b.Get != "" {
		return "" // its error includes it
	}
	n, known := kinds.Find(b.Network)
	if !known || n.Get == "" {
		return ": tare list networks --probe shows what runs here"
	}
	if len(n.Needs) > 0 { // it may also be its daemon that failed
		return fmt.Sprintf(" (if this machine lacks %s: %s)", n.Missing, n.Get)
	}
	return fmt.Sprintf(": it needs %s: %s", n.Missing, n.Get)
}
