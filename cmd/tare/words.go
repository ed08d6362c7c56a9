package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tare/experiment"
)

// noArgs refuses arguments, and takes a stray word for a mistyped verb.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if c.HasSubCommands() {
		var verbs []string
		for _, sub := range c.Commands() {
			if !sub.Hidden {
				verbs = append(verbs, sub.Name())
			}
		}
		return experiment.Unknown("command", args[0], verbs)
	}
	return wrong("%s takes no argument: %q", c.CommandPath(), args[0])
}

// flagError names the flag nearest to one that is unknown.
func flagError(c *cobra.Command, err error) error {
	text := err.Error()
	word, unknown := strings.CutPrefix(text, "unknown flag: --")
	if !unknown {
		return wrong("%w", err)
	}
	var flags []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			flags = append(flags, f.Name)
		}
	})
	if err := experiment.Unknown("flag", word, flags); err != nil {
		return fmt.Errorf("%s: %w", c.CommandPath(), err)
	}
	return nil
}

// list splits a comma list; "all" stands for every valid word.
func list(text string, all []string) []string {
	var words []string
	for _, word := range strings.Split(text, ",") {
		word = strings.TrimSpace(word)
		switch word {
		case "":
		case "all":
			words = append(words, all...)
		default:
			words = append(words, word)
		}
	}
	return words
}
