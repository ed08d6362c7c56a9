package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tare/catalog"
)

// helpWidth is how wide the help is, in columns.
const helpWidth = 80

// usage writes how a command is used: the flags of one with many under headings, parameters by their names.
func usage(c *cobra.Command) error {
	if cutShort(c) {
		return shortUsage(c)
	}
	var text strings.Builder
	note := ""
	text.WriteString("Usage:")
	if c.Runnable() {
		text.WriteString("\n  " + c.UseLine())
	}
	if c.HasAvailableSubCommands() {
		text.WriteString("\n  " + c.CommandPath() + " [command]")
	}
	if c.HasExample() {
		text.WriteString("\n\nExamples:\n" + c.Example)
	}
	below := func(title string, is func(*cobra.Command) bool) {
		for _, sub := range c.Commands() {
			if is(sub) {
				text.WriteString(title + fmt.Sprintf("\n  %-*s %s", sub.NamePadding(), sub.Name(), sub.Short))
				title = ""
			}
		}
	}
	below("\n\nAvailable Commands:", func(sub *cobra.Command) bool { return sub.IsAvailableCommand() || sub.Name() == "help" })
	for _, group := range headed(c) {
		text.WriteString("\n\n" + group.heading + ":\n" + strings.TrimRight(group.text(), "\n"))
		if isParameter(group.heading) {
			note = "\n\n\"tare help parameters\" says what each parameter does, and how --param sets it."
		}
	}
	text.WriteString(note)
	if shared := (flagGroup{ofSites, c.InheritedFlags()}); c.HasParent() && shared.flags.HasAvailableFlags() {
		text.WriteString("\n\nFlags of every command, which \"tare --help\" describes:\n" + shared.text())
	}
	below("\n\nAdditional help topics:", (*cobra.Command).IsAdditionalHelpTopicCommand)
	if c.HasAvailableSubCommands() {
		text.WriteString("\n\nUse \"" + c.CommandPath() + " [command] --help\" for more information about a command.")
	}
	_, err := io.WriteString(c.OutOrStderr(), text.String()+"\n")
	return err
}

// foldHelp folds the paragraphs of what a command and those below it say of themselves.
func foldHelp(c *cobra.Command) {
	c.Long = foldParagraphs(c.Long)
	for _, below := range c.Commands() {
		foldHelp(below)
	}
}

// foldParagraphs folds each paragraph; one that is indented, code or a table stays as it is.
func foldParagraphs(text string) string {
	paragraphs := strings.Split(text, "\n\n")
	for n, text := range paragraphs {
		fixed := slices.ContainsFunc([]string{" ", "```", "|"}, func(start string) bool { return strings.HasPrefix(text, start) })
		if !fixed && !strings.Contains(text, "\n ") {
			paragraphs[n] = strings.Join(fold(text, helpWidth), "\n")
		}
	}
	return strings.Join(paragraphs, "\n\n")
}

// flagGroup is what the help shows under one heading.
type flagGroup struct {
	heading string
	flags   *pflag.FlagSet
}

// headed are the flags of a command under their headings.
func headed(c *cobra.Command) (groups []flagGroup) {
	flags := c.LocalFlags()
	many := count(flags) >= manyFlags
	headingOf := func(name string) string {
		switch heading := byFlag()[name].heading; {
		case !many && !isParameter(heading):
			return usualHeading
		case heading == "":
			return forOutput // -h
		default:
			return heading
		}
	}
	for _, heading := range []string{forWhat, forHow, forWhere, forMore, forOutput, usualHeading, ofNetworks, ofWorkloads, ofSites} {
		group := flagGroup{heading, pflag.NewFlagSet("", pflag.ContinueOnError)}
		group.flags.SortFlags = heading == usualHeading
		add := func(f *pflag.Flag) {
			if f != nil && !f.Hidden && headingOf(f.Name) == heading {
				group.flags.AddFlag(f)
			}
		}
		for _, name := range flagsIn(heading) {
			add(flags.Lookup(name))
		}
		flags.VisitAll(func(f *pflag.Flag) {
			if group.flags.Lookup(f.Name) == nil {
				add(f)
			}
		})
		if group.flags.HasAvailableFlags() {
			groups = append(groups, group)
		}
	}
	return groups
}

func isParameter(heading string) bool {
	return slices.Contains([]string{ofNetworks, ofWorkloads, ofSites}, heading)
}

// text is what each flag of a group does, or the names of parameters.
func (g flagGroup) text() string {
	if !isParameter(g.heading) {
		return g.flags.FlagUsagesWrapped(helpWidth)
	}
	var names []string
	g.flags.VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	return "  " + strings.Join(fold(strings.Join(names, " "), helpWidth-2), "\n  ")
}

// parametersTopic is what tare help says of parameters.
func parametersTopic() *cobra.Command {
	c := &cobra.Command{Use: "parameters", Short: "The flags that belong to some networks, workloads or sites only"}
	c.SetHelpFunc(func(c *cobra.Command, _ []string) {
		fmt.Fprint(c.OutOrStdout(), parameters())
	})
	return c
}

// parameters says what each parameter does, and what has it.
func parameters() string {
	text := `Some flags belong to some networks, workloads or sites only: their parameters.
Each is refused where nothing has it. tare list networks and tare list workloads
name those of each. In a plan they have the same names, with _ for -.

--param gives one to a single network or workload: --param bridge.rules=1000. A
flag, and --param rules=1000, give it to all that have it.

Every network but ` + catalog.Baseline + ` has the parameters of networks that name none. A comma
list weighs a network with each value.
`
	var run runFlags
	var flags pflag.FlagSet
	run.register(&flags)
	for _, heading := range []string{ofNetworks, ofWorkloads, ofSites} {
		group := pflag.NewFlagSet("", pflag.ContinueOnError)
		group.SortFlags = false
		for _, name := range flagsIn(heading) {
			flag := *flags.Lookup(name)
			flag.Hidden = false
			if has := owners(name); has != "" {
				flag.Usage += " [" + has + "]"
			}
			group.AddFlag(&flag)
		}
		text += "\n" + heading + ":\n" + group.FlagUsagesWrapped(helpWidth)
	}
	return text
}

// owners names what has a parameter; empty: every network but the baseline.
func owners(flag string) string {
	b := byFlag()[flag]
	if b.heading == ofSites {
		var names []string
		for _, p := range siteWords() {
			if p.at&b.at != 0 {
				names = append(names, p.site)
			}
		}
		return strings.Join(names, ", ")
	}
	name := strings.ReplaceAll(flag, "-", "_")
	if b.heading == ofNetworks && !catalog.OfSingleNetworks(name) {
		return ""
	}
	return strings.Join(takers(name), ", ")
}
