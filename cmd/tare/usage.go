package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// usageWidth is the widest line of a flag's help, columns.
const usageWidth = 100

// printUsage prints how a command is called. It is no template: a program that runs one keeps every
// method of every type that it links, a seventh of this one.
func printUsage(c *cobra.Command) error {
	var text strings.Builder
	own := c.LocalFlags() // which joins those of the command's parents to its flags
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
	if c.HasAvailableSubCommands() {
		text.WriteString("\n\nAvailable Commands:")
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() || sub.Name() == "help" {
				fmt.Fprintf(&text, "\n  %-*s %s", sub.NamePadding(), sub.Name(), sub.Short)
			}
		}
	}
	printFlags(&text, "Flags", own)
	printFlags(&text, "Global Flags", c.InheritedFlags())
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&text, "\n\nUse \"%s [command] --help\" for more information about a command.", c.CommandPath())
	}
	_, err := fmt.Fprintln(c.OutOrStderr(), text.String())
	return err
}

// printFlags prints flags that the help shows, if there are any.
func printFlags(text *strings.Builder, title string, flags *pflag.FlagSet) {
	if flags.HasAvailableFlags() {
		text.WriteString("\n\n" + title + ":\n" + strings.TrimRight(flags.FlagUsagesWrapped(usageWidth), " \n"))
	}
}
