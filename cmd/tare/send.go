package main

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tare/catalog"
	"tare/experiment"
	"tare/network"
	"tare/probe"
	"tare/report"
	"tare/result"
)

// sendFlags are those of `tare send`.
type sendFlags struct {
	to, pin                    string
	token                      tokenFlags
	name, cc                   string
	duration, warmup, interval string
	out                        string
	json, iperf3               bool
}

// sendCommand is the engine's driving end without a lab.
func sendCommand(s streams) *cobra.Command {
	var f sendFlags
	c := &cobra.Command{
		Use:   "send",
		Short: "Do one run against a tare serve, or against iperf3",
		Long: `Does one run against a tare serve and prints what both ends measured: no lab, no
baseline, no toll. Nothing is printed while the window is open. With --iperf3 the server is that
of iperf3, there is no warm-up by default, and a line is printed each second. With
--workload http and a URL it is any server of HTTP/1.1.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return f.send(c.Context(), s, c.Flags())
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.to, "to", "", fmt.Sprintf("the server, as 10.0.0.2:%d; for http also any, as http://10.0.0.2/path", network.Port))
	flags.StringVar(&f.name, "workload", "tcp_stream", "what to send: "+strings.Join(experiment.Workloads(), ", "))
	registerParams(flags, catalog.WorkloadParams(), catalog.Connections, catalog.AtOnce, catalog.Server, catalog.Tool)
	flags.StringVar(&f.cc, "cc", "", "TCP congestion control (default: the route's or the machine's)")
	flags.StringVar(&f.duration, "duration", "5s", "length of the window")
	flags.StringVar(&f.warmup, "warmup", "200ms", "time before the window, not measured")
	flags.StringVar(&f.interval, "interval", "", "step of the series, printed a line each, as 1s")
	flags.StringVar(&f.pin, "pin", "", "CPUs to run on, as 0 or 1-3 (default: where it was started)")
	f.token.register(c, "the server's token")
	flags.StringVar(&f.out, "out", "", "write the result to this file as well")
	flags.BoolVar(&f.json, "json", false, "write the result to standard output; with --iperf3 in iperf3's own form")
	flags.BoolVar(&f.iperf3, "iperf3", false, "the server is iperf3 -s")
	return c
}

func (f *sendFlags) send(ctx context.Context, s streams, flags *pflag.FlagSet) error {
	run, err := f.single(flags)
	if err != nil {
		return err
	}
	if err := checkWritable(f.out, resultBytes); err != nil {
		return err
	}
	if err := f.find(ctx, &run); err != nil {
		return err
	}
	if err := pinTo(f.pin); err != nil {
		return err
	}
	if f.iperf3 {
		return f.sendIperf3(ctx, run, flags, s)
	}
	env := probe.Environment("/")
	env.Parts = map[string]string{}
	res, err := run.Run(ctx, tool(), env)
	if err != nil {
		return err
	}
	if f.out != "" {
		if err := res.WriteFile(f.out); err != nil {
			return err
		}
	}
	return f.print(s, res)
}

// find finds the server: a tare serve, an iperf3 -s, or with a URL any server
// of HTTP.
func (f *sendFlags) find(ctx context.Context, run *experiment.Single) (err error) {
	if !strings.Contains(f.to, "://") {
		run.To, err = resolve(ctx, f.to, portOf(f.iperf3))
		return err
	}
	at, err := url.Parse(f.to)
	switch {
	case err != nil:
		return wrong("--to: %w", err)
	case at.Scheme != "http" || at.Host == "":
		return wrong("--to %q: write it as http://10.0.0.2:80/path: no other scheme is supported", f.to)
	case f.name != "http" || f.iperf3 || f.token != (tokenFlags{}):
		return wrong("--to %q: a URL is for --workload http alone, without --token", f.to)
	}
	run.Host, run.Path = at.Host, at.RequestURI()
	run.To, err = resolve(ctx, at.Host, 80)
	return err
}

// sendIperf3 runs a test against iperf3's own server. Its warm-up is what
// iperf3 calls omit.
func (f *sendFlags) sendIperf3(ctx context.Context, run experiment.Single, flags *pflag.FlagSet, s streams) error {
	if f.token != (tokenFlags{}) || f.out != "" {
		return wrong("--token and --out: iperf3 has neither: leave them out")
	}
	asked := iperf3Test{workload: run.Workload, duration: run.Duration.Duration(), interval: run.Interval, json: f.json}
	if flags.Changed("warmup") {
		asked.omit = run.Warmup.Duration()
	}
	return sendIperf3(ctx, run.To, asked, s)
}

func (f *sendFlags) print(s streams, res *result.Result) error {
	if f.json {
		if err := res.Write(s.out); err != nil {
			return err
		}
	}
	if cell := res.Cells[0]; cell.Status == result.StatusFailed {
		return fmt.Errorf("%s", cell.Reason)
	}
	if f.json {
		return nil
	}
	return report.Single(s.out, res, f.interval != "", report.Options{Colour: s.colours(s.out)})
}

// single reads the flags.
func (f *sendFlags) single(flags *pflag.FlagSet) (experiment.Single, error) {
	run := experiment.Single{Pin: f.pin, Workload: result.WorkloadPlan{Name: f.name, CC: f.cc}}
	if f.to == "" {
		return run, wrong("--to is missing: name the server, as in --to 10.0.0.2:%d", network.Port)
	}
	secret, err := f.token.read()
	if err != nil {
		return run, err
	}
	run.Secret = secret
	if run.Duration, err = result.ParseSeconds(f.duration); err != nil {
		return run, wrong("--duration: %w", err)
	}
	if run.Warmup, err = result.ParseSeconds(f.warmup); err != nil {
		return run, wrong("--warmup: %w", err)
	}
	if f.interval != "" {
		step, err := result.ParseSeconds(f.interval)
		if err != nil {
			return run, wrong("--interval: %w", err)
		}
		if run.Interval = step.Duration(); step > run.Duration || run.Interval < time.Millisecond {
			return run, wrong("--interval %s: it must be from 1ms to the duration", f.interval)
		}
	}
	if err := workloadParams(flags, &run.Workload); err != nil {
		return run, &exitError{exitWrong, err}
	}
	return run, run.Check()
}

// resolve reads where the server is: an address or a name, with a port or
// without.
func resolve(ctx context.Context, text string, usual uint16) (netip.AddrPort, error) {
	if at, err := netip.ParseAddrPort(text); err == nil {
		return at, nil
	}
	host, port := text, strconv.Itoa(int(usual))
	if h, p, err := net.SplitHostPort(text); err == nil {
		host, port = h, p
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil || number == 0 {
		return netip.AddrPort{}, wrong("--to %q: port %q: write it as in 10.0.0.2:%d", text, port, usual)
	}
	addresses, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil || len(addresses) == 0 {
		return netip.AddrPort{}, wrong("--to %q: find its address: %w", text, err)
	}
	return netip.AddrPortFrom(addresses[0].Unmap(), uint16(number)), nil
}
