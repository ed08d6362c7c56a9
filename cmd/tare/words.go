package main

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tare/experiment"
)

// atLeast refuses fewer arguments than so many, in these words.
func atLeast(least int, words string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < least {
			return wrong("%s", words)
		}
		return nil
	}
}

// atMostOne refuses a second argument; one is what to do instead: "show one place".
func atMostOne(one string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 1 {
			return wrong("%s at a time: %q is too many", one, args[1])
		}
		return nil
	}
}

// noArgs refuses arguments. Of a command with verbs it names the nearest verb.
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
	return wrong("%s takes no argument: leave out %q", c.CommandPath(), args[0])
}

// refuseUnknown has help and completion, which cobra makes, refuse what there is not.
func refuseUnknown(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Flags().Bool(allFlags, false, "of a command with many flags: say what each of them does")
			c.Args = func(_ *cobra.Command, args []string) error {
				of, rest, _ := root.Find(args) // what it does not find is the rest
				return noArgs(of, rest)
			}
		case "completion":
			c.Args, c.RunE = noArgs, func(c *cobra.Command, _ []string) error { return c.Help() }
		}
	}
}

// flagError adds to the error of an unknown flag the nearest flag, or where they are listed.
func flagError(c *cobra.Command, err error) error {
	text := err.Error()
	word, unknown := strings.CutPrefix(text, "unknown flag: --")
	if !unknown {
		return wrong("%s", valueError(c, text))
	}
	var flags []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			flags = append(flags, f.Name)
		}
	})
	said, near := experiment.Meant("flag", word, flags)
	if !near {
		said += fmt.Sprintf(": %s --help lists them", c.CommandPath())
	}
	return wrong("%s: %s", c.CommandPath(), said)
}

// valueError is what the parser of flags says of a value, in words for people.
func valueError(c *cobra.Command, text string) string {
	for _, of := range []struct{ said, instead string }{
		{`invalid argument ("[^"]*") for "(?:-\w, )?--([^"]+)" flag: strconv.ParseBool.*`, "--$2 $1: write true or false"},
		{`invalid argument ("[^"]*") for "(?:-\w, )?--([^"]+)" flag: strconv\..*`, "--$2 $1: write a whole number"},
		{`invalid argument ("[^"]*") for "(?:-\w, )?--([^"]+)" flag: time: .*`, "--$2 $1: write a number and ms, s, m or h, as in 10m"},
		{`invalid argument ("[^"]*") for "(?:-\w, )?--([^"]+)" flag: (.*)`, "--$2 $1: $3"},
		{`flag needs an argument: (?:'\w' in )?(-.*)`, "$1: write its value after it: " + c.CommandPath() + " --help says which"},
		{`unknown shorthand flag: '(.)' in .*`, `unknown flag "-$1": ` + c.CommandPath() + " --help lists them"},
	} {
		if as := regexp.MustCompile("^" + of.said + "$"); as.MatchString(text) {
			return as.ReplaceAllString(text, of.instead)
		}
	}
	return text
}

// writeJSON writes a value for programs, indented.
func writeJSON(w io.Writer, value any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	return enc.Encode(value)
}

// list splits a comma list; the word all is replaced by every valid word.
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
