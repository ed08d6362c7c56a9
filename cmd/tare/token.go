package main

import (
	"fmt"
	"os"
	"strings"
	"unsafe"

	"github.com/spf13/cobra"
)

// tokenVariable is the environment's token, where no flag gives one.
const tokenVariable = "TARE_TOKEN"

// tokenFlags are how the token of a server is given, at either end.
type tokenFlags struct{ text, file string }

func (f *tokenFlags) register(c *cobra.Command, what string) {
	flags := c.Flags()
	flags.StringVar(&f.text, "token", "", what+"; better in a file, or in $"+tokenVariable+", where no other user sees it")
	flags.StringVar(&f.file, "token-file", "", "read the token from the first line of this file")
	either(c, "token", "token-file", func() string { return "--token and --token-file: give one of them" })
}

// read gives the token; empty: there is none.
func (f *tokenFlags) read() (string, error) {
	if f.file == "" {
		token := strings.Clone(f.text) // whose memory is the command line's
		hide(f.text)
		if token == "" {
			token = os.Getenv(tokenVariable)
		}
		return token, nil
	}
	text, err := os.ReadFile(f.file)
	if err != nil {
		return "", wrong("--token-file: %w", err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	if line = strings.TrimSpace(line); line == "" {
		return "", wrong("--token-file %s: its first line is empty: write the token there", f.file)
	}
	return line, nil
}

// hide overwrites a token in the command line, which all users of the machine can read
// (proc_pid_cmdline(5)). The runtime's arguments are that memory itself, and so are the
// values of flags: no other argument is touched.
func hide(token string) {
	for n, arg := range os.Args {
		value, joined := strings.CutPrefix(arg, "--token=")
		if token == "" || value != token || !joined && (n == 0 || os.Args[n-1] != "--token") {
			continue
		}
		memory := unsafe.Slice(unsafe.StringData(value), len(value))
		copy(memory, strings.Repeat("*", len(value)))
	}
}

// openness is why a port that anybody may use is not opened unasked.
func openness(bind fmt.Stringer, what string) error {
	return wrong("--bind %v: whoever reaches this address could have this machine send and receive at full speed, for a day: %s--open if that is what you want", bind, what)
}
