package main

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tare/experiment"
	"tare/foreign"
	"tare/report"
	"tare/result"
)

func importCommand(s streams) *cobra.Command {
	var asJSON bool
	var out string
	var wire boundFlags
	var lang language
	c := &cobra.Command{
		Use:   "import FILE...",
		Short: "Turn the outputs of other tools into a result",
		Long: `Reads what other tools printed, and makes each run in it a cell of a result:
` + strings.Join(foreign.Tools(), ", ") + `.

Logs may be pasted: prompts, line numbers, colours, cut-off runs and several tools in
one file do no harm. What an output does not contain is null, never guessed. "-" reads
standard input.

Numbers that can't be true together are marked. With --link each throughput
is shown with the most that the wire can carry.`,
		Example: `  tare import iperf3.log
  iperf3 -c 10.0.0.2 | tare import - --json
  tare import host.log vxlan.log --out imported.json
  tare import vxlan.log --link 1gbit --network vxlan`,
		Args: atLeast(1, "import needs a file: tare import iperf3.log, or - for standard input"),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := checkWritable(out, resultBytes); err != nil {
				return err
			}
			res, err := imported(s.in, args)
			if err == nil {
				err = wire.apply(res)
			}
			if err != nil {
				return err
			}
			experiment.Referee(res)
			if out != "" {
				if err := res.WriteFile(out); err != nil {
					return err
				}
			}
			return printImported(s, res, lang, asJSON, out)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "write the result to standard output")
	c.Flags().StringVar(&out, "out", "", "result file")
	lang.register(c.Flags())
	wire.register(c.Flags())
	return c
}

// boundFlags describe the wire that carried the imported runs.
type boundFlags struct {
	link, network string
	mtu           int
}

func (f *boundFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.link, "link", "", "rate of the link that carried them, as 1gbit: each throughput gets its ceiling")
	flags.IntVar(&f.mtu, "mtu", 1500, "MTU of that link, in bytes")
	flags.StringVar(&f.network, "network", "", "network that carried them, whose headers take their share")
}

func (f *boundFlags) apply(res *result.Result) error {
	if f.link == "" {
		if f.network != "" {
			return wrong("--network %s: its share is known only with --link", f.network)
		}
		return nil
	}
	link, err := result.ParseBitsPerSecond(f.link)
	if err == nil && f.mtu < 576 {
		err = fmt.Errorf("--mtu %d: a link of IPv4 has 576 at least", f.mtu) // RFC 791
	}
	if err == nil {
		err = experiment.Bound(res, link, f.mtu, f.network)
	}
	if err != nil {
		return &exitError{exitWrong, err}
	}
	return nil
}

// imported reads the files into one result. Its environment and plan are
// empty: no output of a tool contains them.
func imported(in io.Reader, files []string) (*result.Result, error) {
	id := make([]byte, 8)
	if _, err := rand.Read(id); err != nil {
		return nil, err
	}
	now := time.Now().UTC().Format(time.RFC3339)
	res := &result.Result{
		Schema: result.Schema, ID: hex.EncodeToString(id), Started: now, Finished: now, Tool: tool(),
		Noise: result.Noise{Pressure: -1}, // not known
	}
	for _, file := range files {
		data, err := readFile(in, file)
		if err != nil {
			return nil, wrong("%w: give a readable file, or - for standard input", err)
		}
		cells, err := foreign.Read(file, data)
		if err != nil {
			return nil, wrong("%w", err)
		}
		for _, cell := range cells {
			cell.Params["file"] = file
			res.Cells = append(res.Cells, cell)
		}
	}
	return res, nil
}

func readFile(in io.Reader, file string) ([]byte, error) {
	if file == "-" {
		return io.ReadAll(in)
	}
	return os.ReadFile(file)
}

func printImported(s streams, res *result.Result, lang language, asJSON bool, out string) error {
	if asJSON {
		return res.Write(s.out)
	}
	if err := report.Imported(s.out, res, lang.shownOn(s.out, s.manner)); err != nil {
		return err
	}
	if out == "" {
		return nil
	}
	return report.Files(s.out, out, "", true, lang.shownOn(s.out, s.manner))
}
