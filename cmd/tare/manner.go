package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/term"
)

// manner is how a command shows what it does, and itself: the flags that every command has.
type manner struct {
	quiet           bool
	verbose         string // a log's file, or onScreen
	color, progress word
	log             *os.File // nil: there is none
	unwritten       error    // of the first line that the log did not take
}

// onScreen is the value of --verbose without one.
const onScreen = "-"

func (m *manner) register(flags *pflag.FlagSet) {
	m.color, m.progress = word{"auto", "always", "never"}, word{"auto", "plain", "json"}
	flags.BoolVarP(&m.quiet, "quiet", "q", false, "print the answer and errors only")
	flags.StringVarP(&m.verbose, "verbose", "v", "", "print each step and block, with its time; --verbose=FILE appends them to a log, with the command and how it ended")
	flags.Lookup("verbose").NoOptDefVal = onScreen
	flags.Var(&m.color, "color", "colour the answer; auto: on a terminal, unless NO_COLOR is set or TERM is dumb")
	flags.Var(&m.progress, "progress", "show how far it is on standard error; auto: on a terminal in place; json: an object a line")
}

// begin opens the log and writes the command into it.
func (m *manner) begin() (err error) {
	if m.verbose == "" || m.verbose == onScreen {
		return nil
	}
	if m.log, err = os.OpenFile(m.verbose, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644); err != nil {
		return wrong("--verbose: %w: choose another file", err)
	}
	m.record("tare " + version + " " + tool().Commit + ": " + strings.Join(os.Args[1:], " "))
	return nil
}

// record writes a line into the log. A line that it does not take fails the command, at its end.
func (m *manner) record(text string) {
	if m.log == nil || m.unwritten != nil {
		return
	}
	if _, err := fmt.Fprintf(m.log, "%s %s\n", time.Now().Format(time.RFC3339), text); err != nil {
		m.unwritten = fmt.Errorf("--verbose: %w: choose another file", err)
	}
}

// end ends the log and says why a command failed, if it did. It returns the exit status.
func (m *manner) end(w io.Writer, status int, err error) int {
	if m.log != nil {
		m.record(strings.TrimSpace(fmt.Sprintf("exit status %d %s", status, said(err))))
		if lost := errors.Join(m.unwritten, m.log.Close()); lost != nil {
			err, status = errors.Join(err, lost), cmp.Or(status, exitFailed)
		}
	}
	switch {
	case err == nil:
	case m.progress.is("json"):
		writeStep(w, step{Event: "error", Time: time.Now(), Text: said(err)})
	default:
		fmt.Fprintf(w, "tare: %s\n", said(err))
	}
	return status
}

// said is the text of an error; empty: there is none.
func said(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// colours reports whether text written to w is coloured (no-color.org).
func (m *manner) colours(w io.Writer) bool {
	return m.color.is("always") || m.color.is("auto") && os.Getenv("NO_COLOR") == "" && obeys(w)
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// obeys reports whether w is a terminal that moves its cursor and has colours.
func obeys(w io.Writer) bool { return os.Getenv("TERM") != "dumb" && isTerminal(w) }

// word is a flag that takes one of these words. The first is the one that is chosen.
type word []string

// Set chooses a word.
func (w *word) Set(text string) error {
	at := slices.Index(*w, text)
	if at < 0 {
		return fmt.Errorf("choose from %s", strings.Join(*w, ", "))
	}
	*w = slices.Concat(word{text}, (*w)[:at], (*w)[at+1:])
	return nil
}

func (w *word) String() string {
	if len(*w) == 0 {
		return ""
	}
	return (*w)[0]
}

// Type names the words in the flag's help.
func (w *word) Type() string { return strings.Join(*w, "|") }

func (w *word) is(text string) bool { return w.String() == text }
