package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"tare/docs"
	"tare/experiment"
	"tare/result"
)

func explainCommand(s streams) *cobra.Command {
	ids := func() []string { return result.Names(docs.Causes(), func(c docs.Cause) string { return c.ID }) }
	return &cobra.Command{
		Use:   "explain [CAUSE]",
		Short: "Say what a cause is, how it is recognised, how to fix it",
		Long: `Prints what tare knows of a cause that a finding names: what it is, the evidence by
which it is recognised, and how to fix it. Without an argument it lists the causes.`,
		Example: "  tare explain mtu-black-hole",
		Args:    atMostOne("explain one cause"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return ids(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				_, err := fmt.Fprintln(s.out, strings.Join(ids(), "\n"))
				return err
			}
			found, known := result.First(docs.Causes(), func(c docs.Cause) bool { return c.ID == args[0] })
			if !known {
				return experiment.Unknown("cause", args[0], ids())
			}
			_, err := fmt.Fprintf(s.out, "%s\n\n%s\n", found.ID, foldParagraphs(found.Text))
			return err
		},
	}
}
