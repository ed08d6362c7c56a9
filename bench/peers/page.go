package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"time"

	"tare/catalog"
	"tare/probe"
	"tare/result"
	"tare/workload"
)

// mark divides the page: what is below it is written by hand and kept.
const mark = "<!-- Below this line by hand: bench/peers keeps it. -->\n"

// firstByHand is what a new page has there.
const firstByHand = "\n## What does not hold, and why\n"

// page is the document.
type page struct {
	options
	machine  machine
	outcomes []outcome
}

// machine is what the run found.
type machine struct {
	result.Environment
	foreign float64 // CPUs busy with other work before the run
	date    string
}

func describeMachine() (machine, error) {
	const span = time.Second
	foreign, err := probe.ForeignCPU("/", span)
	return machine{probe.Environment("/"), foreign, time.Now().UTC().Format(time.DateOnly)}, err
}

// write writes the page to its file, or to standard output.
func (p page) write(ctx context.Context) error {
	text := p.render(ctx)
	if p.output == "-" {
		_, err := io.WriteString(os.Stdout, text)
		return err
	}
	old, err := os.ReadFile(p.output)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	_, kept, marked := bytes.Cut(old, []byte(mark))
	if !marked {
		kept = []byte(firstByHand)
	}
	return os.WriteFile(p.output, []byte(text+"\n"+mark+string(kept)), 0o644)
}

func (p page) render(ctx context.Context) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Performance: tare's engine compared with the tools that people use\n\nWritten by `%s` on %s.\n\n", p.command(), p.machine.date)
	b.WriteString(p.method())
	fmt.Fprintf(&b, "\nThe machine: Linux %s, %d CPUs (%s), %s, clock %s; %.2f CPUs were busy with other work before the run.\n",
		p.machine.Kernel, p.machine.CPUs, p.machine.CPUModel, p.machine.Virtualisation, p.machine.Clocksource, p.machine.foreign)
	fmt.Fprintf(&b, "The tools: %s.\n\n", strings.Join(p.versions(ctx), ", "))
	b.WriteString("## How tare compares\n\n" + p.summary())
	for n, out := range p.outcomes {
		if n == 0 || p.outcomes[n-1].name != out.name {
			fmt.Fprintf(&b, "\n## `%s`: %s\n\n```text\n%s\n```\n", out.name, out.title, strings.Join(out.commands, "\n"))
		}
		b.WriteString(out.section())
	}
	if config := p.nginxConfig(); config != "" {
		b.WriteString("\n## nginx's configuration\n\n```text\n" + config + "```\n")
	}
	return b.String()
}

// command is how the page is made again.
func (p page) command() string {
	argv := []string{"go", "run", "./bench/peers"}
	if p.rows != "" {
		argv = append(argv, "-rows", p.rows)
	}
	argv = append(argv, "-pairs", fmt.Sprint(p.pairs), "-duration", p.window.String())
	if p.network != "veth" || p.path != catalog.SameHost {
		argv = append(argv, "-network", p.network, "-path", p.path)
	}
	return typed(argv)
}

// method is what a reader must know of the figures.
func (p page) method() string {
	return fmt.Sprintf(`One lab, two containers: network %s, path %s, %s at both ends. Ends %s: the client on one
CPU, the server on another; ends %s: both on one; ends %s: apart, in two namespaces with nothing but a veth pair
between them, without receive steering; ends %s: apart, with GRO on the veths, so that these take the frames of a
program. In each block every tool of a row runs once, in random order, for %v. Figures are medians over the
blocks; a ratio is tare / the other, with its 95 %% interval (Hodges-Lehmann, exact signed-rank), and the other is
the peer with the best median of that measure. A claim holds where the whole interval is on the right side of its bound.

CPU time is that of the whole machine, softirq, kernel threads and both ends included, without what the
hypervisor took: the CPUs busy from %.0f %% to %.0f %% of the window after the client's start, over the tool's own
rate. All tools are read in this way, sockperf from when it has measured its clock. autocannon takes long to start
and is read partly before its traffic begins, which is in its favour.

- tare warms up for a quarter of a window, iperf3 for a second; wrk, ab, hey, iperf, nuttcp and qperf do not.
- Throughput is the receiver's. Datagrams are those received; sockperf's are those that its server counts.
- qperf halves its round trips: they are doubled here. It prints no percentiles.
- Tools that count in whole seconds run until the next whole second.
`, p.network, p.path, congestion, apart, same, plain, live, p.window, 100*meterFrom, 100*meterTo)
}

// versions are those of the programs that ran.
func (p page) versions(ctx context.Context) []string {
	var seen []string
	for _, out := range p.outcomes {
		for _, sub := range out.peers {
			for _, program := range sub.programs() {
				if _, err := program.Find(); err != nil {
					continue
				}
				seen = result.AddOnce(seen, program.Name+" "+version(ctx, program))
			}
		}
	}
	return seen
}

// version is what the program prints as its version, or else its package's.
func version(ctx context.Context, p workload.Program) string {
	if len(p.Version) > 0 {
		if printed, err := p.PrintedVersion(ctx); printed != "" {
			return printed
		} else if err != nil {
			return "unknown version: " + err.Error()
		}
	}
	out, err := exec.CommandContext(ctx, "dpkg-query", "-W", "-f", "${Version}", p.Name).Output()
	if err != nil {
		return "unknown version: " + err.Error()
	}
	return string(out)
}

// summary is the table of all claims, the headline placement of a row first.
func (p page) summary() string {
	var b strings.Builder
	b.WriteString("| row | ends | measure | tare | | other | | ratio | must be | verdict |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for _, out := range p.outcomes {
		for _, c := range out.claims {
			st := out.weigh(c)
			ends := out.placement
			if out.headline {
				ends = "**" + ends + "**"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", out.name, ends, measureName(c.metric),
				c.ours, scaled(st.mine, st.quantity), cmp.Or(st.other, "nobody"), scaled(st.theirs, st.quantity),
				ratioText(st.ratio), boundText(c.bound, st.quantity.Better), st.verdict)
		}
	}
	b.WriteString("\nThe headline of a row is printed **bold**.\n")
	return b.String()
}

// section shows every tool of a row at one placement.
func (out *outcome) section() string {
	var b strings.Builder
	metrics := out.metrics()
	fmt.Fprintf(&b, "\nEnds %s, %d blocks:\n\n| tool |", out.placement, len(out.blocks))
	for _, m := range metrics {
		fmt.Fprintf(&b, " %s |", measureName(m))
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(metrics)) + "\n")
	for _, label := range out.labels() {
		fmt.Fprintf(&b, "| %s |", label)
		for _, m := range metrics {
			quantity, _ := result.QuantityOf(m)
			fmt.Fprintf(&b, " %s |", scaled(median(out.column(label, m)), quantity))
		}
		b.WriteString("\n")
	}
	for _, t := range out.missing {
		fmt.Fprintf(&b, "\n%s is not installed: %s\n", t.Name, t.Get)
	}
	for _, label := range out.labels() {
		if n := out.failed[label]; n > 0 {
			fmt.Fprintf(&b, "\n%s failed in %d of %d blocks, the last time: %s\n", label, n, len(out.blocks), firstLine(out.failure[label]))
		}
	}
	return b.String()
}

// labels are the row's subjects, tare first.
func (out *outcome) labels() []string {
	var all []string
	for _, e := range out.ours {
		all = append(all, e.label())
	}
	for _, p := range out.peers {
		all = append(all, p.label())
	}
	return all
}

// metrics are those that the row's claims are about, in their order.
func (out *outcome) metrics() []string {
	var all []string
	for _, c := range out.claims {
		all = result.AddOnce(all, c.metric)
	}
	return all
}

// nginxConfig is what nginx read, if it ran.
func (p page) nginxConfig() string {
	for _, out := range p.outcomes {
		for _, sub := range out.peers {
			if sub.server.program.Name == nginx.Name {
				return nginxConfiguration(call{addr: addressWord, folder: folderWord})
			}
		}
	}
	return ""
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
