package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tare/experiment"
	"tare/result"
)

// refuse has a command refuse flags before it begins, in these words. What cobra knows of them besides is
// for the shell, which does not offer what would be refused.
func refuse(c *cobra.Command, check func(*pflag.FlagSet) error) {
	earlier := c.PreRunE
	c.PreRunE = func(c *cobra.Command, args []string) error {
		if earlier != nil {
			if err := earlier(c, args); err != nil {
				return err
			}
		}
		return check(c.Flags())
	}
}

// together has a command refuse one of two flags without the other.
func together(c *cobra.Command, one, other, words string) {
	c.MarkFlagsRequiredTogether(one, other)
	refuse(c, func(flags *pflag.FlagSet) error {
		if flags.Changed(one) != flags.Changed(other) {
			return wrong("%s", words)
		}
		return nil
	})
}

// either has a command refuse two flags together.
func either(c *cobra.Command, one, other string, words func() string) {
	c.MarkFlagsMutuallyExclusive(one, other)
	refuse(c, func(flags *pflag.FlagSet) error {
		if flags.Changed(one) && flags.Changed(other) {
			return wrong("%s", words())
		}
		return nil
	})
}

// belong has a command refuse flags where they do not belong: at a place, and of `tare run` in a way of
// working.
func belong(c *cobra.Command) {
	refuse(c, func(flags *pflag.FlagSet) error {
		if err := refuseJobs(flags); err != nil {
			return err
		}
		return refusePlaces(flags)
	})
	for _, b := range belongings() {
		for _, chooser := range strings.Fields(b.flags) {
			if b.chooses == 0 || c.Flags().Lookup(chooser) == nil {
				continue
			}
			c.Flags().VisitAll(func(other *pflag.Flag) {
				to, known := byFlag()[other.Name]
				if known && to.in&b.chooses == 0 && (to.chooses == 0 || to.chooses > b.chooses) {
					c.MarkFlagsMutuallyExclusive(chooser, other.Name)
				}
			})
		}
	}
}

// given is a flag that is on the command line.
type given struct {
	belonging
	typed string // after "--"
}

// givenFlags are the flags of the command line that are listed, in that order, and those that --sweep and
// --param give values to.
func givenFlags(flags *pflag.FlagSet) (all []given) {
	for _, b := range belongings() {
		for _, name := range strings.Fields(b.flags) {
			f := flags.Lookup(name)
			if f == nil || !f.Changed || f.Value.Type() == "bool" && f.Value.String() == "false" {
				continue
			}
			all = append(all, given{b, name})
			for _, a := range assignments(flags) {
				if to, known := byFlag()[flagName(a.name)]; known && name == singleParam {
					all = append(all, given{to, singleParam + " " + a.key()})
				}
			}
			if name == "sweep" {
				axis, _, _ := strings.Cut(f.Value.String(), "=")
				swept := sweepFlag{axis: strings.ReplaceAll(axis, "-", "_")}
				if to, known := byFlag()[swept.flag()]; known {
					all = append(all, given{to, "sweep " + axis})
				}
			}
		}
	}
	return all
}

// choosesPlan reports whether a flag changes what is measured, or how.
func choosesPlan(g given) bool {
	return !slices.Contains([]string{forWhere, forMore, forOutput}, g.heading)
}

// refuseJobs refuses a flag that is not read in the way of working that is chosen.
func refuseJobs(flags *pflag.FlagSet) error {
	typed := givenFlags(flags)
	chosen := false
	for job := ofCase; job <= checking; job <<= 1 {
		by, is := result.First(typed, func(g given) bool { return g.chooses == job })
		if !is {
			continue
		}
		chosen = true
		if job == ofCase {
			if err := refuseInCase(flags, flags.Lookup("case").Value.String()); err != nil {
				return err
			}
		}
		if unread, is := result.First(typed, func(g given) bool { return g.in&job == 0 }); is {
			return wrong("--%s and --%s: they do not go together: leave one of them out", by.typed, unread.typed)
		}
	}
	for _, g := range typed {
		if !chosen && g.in&once == 0 {
			return wrong("--%s: %s", g.typed, g.instead)
		}
	}
	return nil
}

// refuseInCase refuses what a case sets.
func refuseInCase(flags *pflag.FlagSet, id string) error {
	if g, is := result.First(givenFlags(flags), func(g given) bool { return g.in&ofCase == 0 }); is {
		return wrong("--%s can't be combined with a case, whose plans set it: save a plan that tare run --case %s --dry-run prints, change it and run it", g.typed, id)
	}
	return nil
}

// siteOf is the place that is chosen: by --site, by a flag that only one place has, or a lab.
func siteOf(flags *pflag.FlagSet) (siteWord, error) {
	all := siteWords()
	if word := flags.Lookup("site").Value.String(); word != "" {
		chosen, known := result.First(all, func(p siteWord) bool { return p.site == word })
		if !known {
			return chosen, &exitError{exitWrong, experiment.Unknown("site", word, siteNames())}
		}
		return chosen, nil
	}
	for _, p := range all[1:] {
		if flags.Changed(p.by) {
			return p, nil
		}
	}
	return all[0], nil
}

// refusePlaces refuses a flag that has no meaning at the place that is chosen.
func refusePlaces(flags *pflag.FlagSet) error {
	chosen, err := siteOf(flags)
	if err != nil {
		return err
	}
	named, at := "site "+chosen.site, chosen.at
	switch {
	case at == inLabs && flags.Changed("lab"):
		named, at = "lab", inUp
	case at == inLabs:
		at = inLab
	}
	silent := at == inLab && !flags.Changed("site")
	for _, g := range givenFlags(flags) {
		switch {
		case g.at&at != 0:
		case g.instead != "" && (silent || at&inLabs != 0 && g.at == atSites):
			return wrong("--%s: %s", g.typed, g.instead)
		case silent && g.at&inLabs == 0:
			return wrong("--%s: it goes with --site %s: add that, or leave it out", g.typed, siteNameOf(g.at))
		case g.at&inLabs != 0:
			return wrong("--%s and --%s: what is there is measured as it is: leave one of them out", named, g.typed)
		default:
			return wrong("--%s and --%s: they do not go together: leave one of them out", named, g.typed)
		}
	}
	return nil
}

func siteNames() []string {
	return result.Names(siteWords(), func(p siteWord) string { return p.site })
}

// siteNameOf names the first site of places.
func siteNameOf(at places) string {
	p, _ := result.First(siteWords(), func(p siteWord) bool { return p.at&at != 0 })
	return p.site
}

// take adds to flags those of others that belong to a job.
func take(flags, others *pflag.FlagSet, job jobs) {
	others.VisitAll(func(f *pflag.Flag) {
		if b, known := byFlag()[f.Name]; known && b.in&job != 0 {
			flags.AddFlag(f)
		}
	})
}
