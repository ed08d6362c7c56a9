package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"tare/result"
	"tare/site"
)

func cleanCommand(s streams) *cobra.Command {
	f := siteFlags{each: true}
	var dryRun bool
	c := &cobra.Command{
		Use:   "clean",
		Short: "Remove what runs have left at a site",
		Long: `Clean removes what tare has left at a site: of docker the containers and images, of
kubernetes the namespaces of runs that died, of ssh the copies of tare that are
kept for the next run. Runs that go on keep what is theirs.

Labs need no cleaning: each command of tare removes what labs that died have left.`,
		Example: `  tare clean --site docker
  tare clean --site kubernetes
  tare clean --site ssh --machines a,b --dry-run`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if !c.Flags().Changed("site") {
				return wrong("tare clean: name the site, as in --site docker or --site ssh --machines a,b; labs need no cleaning")
			}
			other, err := f.read(c.Flags())
			if err != nil {
				return err
			}
			cleaner, keeps := f.opener.(site.Cleaner)
			if !other || !keeps {
				return wrong("--site %s: nothing is kept there: choose %s, %s or %s", f.kind, result.SiteSSH, result.SiteDocker, result.SiteKubernetes)
			}
			names := 0
			verb := "removing"
			if dryRun {
				verb = "left"
			}
			err = cleaner.Clean(c.Context(), dryRun, func(l site.Leftover) {
				names++
				fmt.Fprintf(s.out, "%s: %s %s\n", l.Where, verb, l.What)
			})
			if err == nil && names == 0 {
				fmt.Fprintln(s.out, "nothing is left there")
			}
			return err
		},
	}
	f.register(c.Flags(), cleaning)
	c.Flags().BoolVar(&dryRun, "dry-run", false, "print what is left, and remove nothing")
	belong(c)
	return c
}
