package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const (
	// allFlags is the flag of tare help that shows what each flag of a command does.
	allFlags = "all"

	mostParagraphs = 2 // of what a command with many flags says of itself, unless all is asked for
	mostExamples   = 3
	mostShown      = 4 // flags below a heading of which the short help says what they do
)

// cutShort reports whether the help of a command is cut: it has many flags, and not all are asked for.
func cutShort(c *cobra.Command) bool {
	help, _, err := c.Root().Find([]string{"help"})
	return count(c.LocalFlags()) >= manyFlags && (err != nil || !help.Flags().Changed(allFlags))
}

// help writes what a command is, and how it is used.
func help(c *cobra.Command, _ []string) {
	about := c.Long
	switch {
	case about == "":
		about = c.Short
	case cutShort(c):
		about = strings.Join(firstOf(strings.Split(about, "\n\n"), mostParagraphs), "\n\n")
	}
	fmt.Fprintf(c.OutOrStdout(), "%s\n\n%s", about, c.UsageString())
}

// shortUsage writes how a command with many flags is used, on one screen.
func shortUsage(c *cobra.Command) error {
	text := "Usage:\n  " + c.UseLine() + "\n\nExamples:\n" + strings.Join(firstOf(strings.Split(c.Example, "\n"), mostExamples), "\n")
	for _, group := range headed(c) {
		if isParameter(group.heading) {
			continue
		}
		shown, others := pflag.NewFlagSet("", pflag.ContinueOnError), []string{}
		shown.SortFlags = false
		group.flags.VisitAll(func(f *pflag.Flag) {
			switch {
			case f.Name == "help":
			case len(others) == 0 && count(shown) < mostShown:
				brief := *f
				brief.Usage = briefly(f.Usage)
				shown.AddFlag(&brief)
			default:
				others = append(others, "--"+f.Name)
			}
		})
		text += "\n\n" + group.heading + ":\n" + strings.TrimRight(shown.FlagUsagesWrapped(helpWidth), "\n")
		for _, line := range fold(strings.Join(others, " "), helpWidth-6) {
			text += "\n      " + line
		}
	}
	name := strings.TrimPrefix(c.CommandPath(), c.Root().Name()+" ")
	text += "\n\n" + strings.Join(fold(fmt.Sprintf("\"tare help %s --all\" says what each flag does; \"tare help parameters\" what single networks, workloads and sites have besides, and how --param sets it.", name), helpWidth), "\n")
	_, err := io.WriteString(c.OutOrStderr(), text+"\n")
	return err
}

// briefly is the beginning of what a flag does.
func briefly(usage string) string {
	for _, end := range []string{", ", ": ", "; ", " ("} {
		usage, _, _ = strings.Cut(usage, end)
	}
	return usage
}

func count(flags *pflag.FlagSet) (n int) {
	flags.VisitAll(func(*pflag.Flag) { n++ })
	return n
}

func firstOf(all []string, most int) []string { return all[:min(most, len(all))] }
