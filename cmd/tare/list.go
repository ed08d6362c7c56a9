package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"tare/experiment"
	"tare/network"
	"tare/site"
	"tare/workload"
)

// listed is one line of a listing.
type listed struct {
	Name      string `json:"name"`
	Doc       string `json:"doc"`
	Available bool   `json:"available"`
	Fidelity  string `json:"fidelity"`
	Parent    string `json:"parent"`
	Missing   string `json:"missing"`
	Get       string `json:"get"`
}

func listCommand(s streams) *cobra.Command {
	var asJSON bool
	kinds := []string{"networks", "workloads"}
	c := &cobra.Command{
		Use:   "list [networks|workloads]",
		Short: "What runs here, what is missing and how to get it",
		Long: `Lists the networks and workloads. Each network is laid for a moment in a lab of
its own: what it says of this machine has been tried, not guessed.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return wrong("list one kind at a time: %q is too many", args[1])
			}
			if len(args) == 1 && args[0] != kinds[0] && args[0] != kinds[1] {
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
			for _, kind := range kinds {
				if err := printList(c.Context(), s, kind, asJSON); err != nil {
					return err
				}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "write an array to standard output")
	return c
}

func printList(ctx context.Context, s streams, kind string, asJSON bool) error {
	all := listWorkloads()
	if kind == "networks" {
		var err error
		if all, err = listNetworks(ctx); err != nil {
			return err
		}
	}
	if asJSON {
		enc := json.NewEncoder(s.out)
		enc.SetIndent("", " ")
		return enc.Encode(all)
	}
	table := tabwriter.NewWriter(s.out, 0, 8, 2, ' ', 0)
	for _, l := range all {
		state, said := "runs here", fold(l.Doc)
		if !l.Available {
			state = "missing"
			said = append(said, fold(strings.TrimSpace(l.Missing+": "+l.Get))...)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", l.Name, state, strings.Join(said, "\n\t\t"))
	}
	return table.Flush()
}

// foldWidth leaves room for a name and a state within 100 columns.
const foldWidth = 76

// fold breaks a text into lines.
func fold(text string) []string {
	var lines []string
	for _, word := range strings.Fields(text) {
		if n := len(lines) - 1; n >= 0 && len(lines[n])+1+len(word) <= foldWidth {
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
		all = append(all, listed{Name: w.Name, Doc: w.Doc, Available: true, Fidelity: network.Product})
	}
	return all
}

// listNetworks lays every network for a moment.
func listNetworks(ctx context.Context) (all []listed, err error) {
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
		n, _ := network.Find(p.Name)
		entry := listed{Name: n.Name, Doc: n.Doc, Available: p.Error == "", Fidelity: p.Fidelity, Parent: n.Parent}
		if !entry.Available {
			entry.Missing, entry.Get = p.Missing+": "+p.Error, p.Get
		}
		all = append(all, entry)
	}
	return all, nil
}

// getting says how to get what a network needs.
func getting(b site.Built) string {
	if b.Get != "" {
		return "" // its error says so
	}
	n, known := network.Find(b.Network)
	if !known || n.Get == "" {
		return ": tare list networks shows what runs here"
	}
	return fmt.Sprintf(": it needs %s: %s", n.Missing, n.Get)
}
