// Command tare weighs container networks: what each one costs against the
// host's own network, why, and what to do about it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"tare/experiment"
	"tare/lab"
	"tare/site"
)

// The exit statuses.
const (
	exitDone        = 0
	exitFailed      = 1 // at least one cell failed, or tare itself
	exitWrong       = 2 // the command, plan or input file is wrong
	exitMissing     = 3 // something that it needs is missing on this machine
	exitUnmet       = 4 // a limit was passed
	exitUnknown     = 5 // it is not known whether a limit was passed, or there is nothing to compare
	exitInterrupted = 130
)

func main() {
	os.Exit(run(os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr}))
}

// streams are where a command reads and writes.
type streams struct {
	in       *os.File
	out, err io.Writer
	*manner
}

// columns is how wide the terminal is; 0: unknown, or it is none.
func columns(w io.Writer) int {
	if !isTerminal(w) {
		return 0
	}
	wide, _, err := term.GetSize(int(w.(*os.File).Fd()))
	if err != nil {
		return 0
	}
	return wide
}

// run is the whole program and returns the exit status.
func run(args []string, s streams) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	s.manner = &manner{}
	root := rootCommand(s)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	status := statusOf(err)
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		status, err = exitInterrupted, errors.New("interrupted")
	}
	if exit := new(exitError); errors.As(err, &exit) && exit.err == nil {
		err = nil
	}
	return s.end(s.err, status, err)
}

// exitError carries an exit status; without an error nothing more is printed.
type exitError struct {
	status int
	err    error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit status %d", e.status)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// wrong is an error in the command line.
func wrong(format string, args ...any) error {
	return &exitError{exitWrong, fmt.Errorf(format, args...)}
}

func statusOf(err error) int {
	var exit *exitError
	var input *experiment.InputError
	var choice *site.ChoiceError
	var limit *site.LimitError
	var client *site.ClientError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &exit):
		return exit.status
	case errors.As(err, &input), errors.As(err, &choice):
		return exitWrong
	case errors.Is(err, lab.ErrNamespaces), errors.As(err, &limit), errors.As(err, &client):
		return exitMissing
	}
	return exitFailed
}

func rootCommand(s streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "tare",
		Short: "Weigh container networks: what each one costs against the host's own, and why",
		Long: `tare weighs container networks against the host's own network.

It builds hosts and containers from namespaces on this machine, sets up each
container network between them with the parts that production uses, measures each
against the host in randomised interleaved blocks, and reports each toll with an
interval. It does not touch the machine's own network and leaves nothing behind.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return c.Help()
		},
		PersistentPreRunE: func(c *cobra.Command, _ []string) error {
			if err := s.begin(); err != nil {
				return err
			}
			if c.Hidden || reads(c) { // a hidden one is started by tare itself, inside a lab
				return nil
			}
			if err := site.Sweep(); err != nil { // of labs that others left: this command can do without
				fmt.Fprintf(s.err, "tare: warning: %v\n", err)
			}
			return nil
		},
		Version: tool().Version,
	}
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.Flags().BoolP("version", "V", false, "print the version") // by itself cobra gives -v
	s.register(root.PersistentFlags())
	root.SetUsageFunc(usage)
	root.SetHelpFunc(help)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return flagError(c, err)
	})
	root.AddCommand(
		runCommand(s), doctorCommand(s), traceCommand(s), meshCommand(s), compareCommand(s), trendCommand(s), reportCommand(s), importCommand(s), listCommand(s), labCommand(s),
		cleanCommand(s), imageCommand(s), serveCommand(s), sendCommand(s), explainCommand(s), versionCommand(s), parametersTopic(),
	)
	refuseUnknown(root)
	completeWords(root)
	foldHelp(root)
	root.AddCommand(append(hiddenCommands(s), manCommand(root))...)
	return root
}

// reads reports whether a command changes nothing of the machine.
func reads(c *cobra.Command) bool {
	of := append(strings.Fields(c.CommandPath()), "help")[1] // without a verb it prints the help
	return slices.Contains([]string{"list", "report", "compare", "trend", "import", "image", "explain", "version", "completion", "help"}, of)
}
