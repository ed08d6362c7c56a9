package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"tare/report"
)

// language is the flag --lang: the language to write in, "" where it is not set.
type language string

func (l *language) register(flags *pflag.FlagSet) {
	flags.Var(l, "lang", "language of the report: "+strings.Join(report.Languages(), ", ")+" (default: that of the environment; a page uses the browser's)")
}

// Set checks and stores the flag's value.
func (l *language) Set(text string) error {
	if !slices.Contains(report.Languages(), text) {
		return fmt.Errorf("choose from %s", strings.Join(report.Languages(), ", "))
	}
	*l = language(text)
	return nil
}

func (l *language) String() string { return string(*l) }

// Type names the value in the flag's help.
func (l *language) Type() string { return "language" }

// ofTerminal is the language of what a terminal shows: that of the flag, else that
// of the environment.
func (l language) ofTerminal() string {
	locale := cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_MESSAGES"), os.Getenv("LANG")) // as POSIX orders them
	switch {
	case l != "":
		return string(l)
	case strings.HasPrefix(strings.ToLower(locale), "zh"):
		return report.Chinese
	}
	return report.English
}

// shownOn are the options of a report that is written to w.
func (l language) shownOn(w io.Writer, m *manner) report.Options {
	return report.Options{Colour: m.colours(w), Width: columns(w), Lang: l.ofTerminal()}
}
