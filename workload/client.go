package workload

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"tare/foreign"
	"tare/result"
)

// client is one run of a tool: a program that keeps a server busy and prints at
// its end what it measured.
type client struct {
	program Program
	args    []string
	// interrupted: it goes on until it is interrupted, and then prints what it
	// measured; else it ends by itself, with the run.
	interrupted bool
}

// startStep is how often a tool that starts is asked whether it is connected.
const startStep = time.Millisecond

// printWait is how long a tool may take after its window to print what it measured: on a
// busy machine seconds.
const printWait = 10 * time.Second

// drive runs the tool for the run's warm-up and window and returns the cell that
// it printed, which is of both. The edges are those of the window: from the
// warm-up after its first connection, so that the CPU time of the tool's start is
// not counted.
func (c client) drive(ctx context.Context, run Run) (cell result.Cell, window time.Duration, err error) {
	path, err := c.program.Find()
	if err != nil {
		return cell, 0, fmt.Errorf("find %s: %w: %s", c.program.Name, err, c.program.Get)
	}
	var printed []string
	child, err := startChild("/", func(line string) { printed = append(printed, line) }, path, c.args...)
	if err != nil {
		return cell, 0, err
	}
	if window, err = c.work(ctx, run, child); err != nil {
		return cell, 0, errors.Join(err, child.Stop())
	}
	if cell, err = foreign.ReadRun(c.program.Name, []byte(strings.Join(printed, "\n"))); err != nil {
		return cell, window, fmt.Errorf("%w: see whether the server can be reached", err)
	}
	return cell, window, nil
}

// work lets the program work for the run's time, waits for its end and returns
// the length of the window.
func (c client) work(ctx context.Context, run Run, child *Child) (window time.Duration, err error) {
	for !child.connected() {
		if err := child.stays(ctx, startStep); err != nil {
			return 0, err
		}
	}
	if err := child.stays(ctx, run.Warmup); err != nil {
		return 0, err
	}
	run.Edge(false)
	begun := time.Now()
	err = child.stays(ctx, run.Duration)
	run.Edge(true)
	if window = time.Since(begun); err != nil {
		return 0, err
	}
	if c.interrupted {
		if err := child.cmd.Process.Signal(syscall.SIGINT); err != nil {
			return 0, fmt.Errorf("end %s: %w", child.name, err)
		}
	}
	select {
	case <-child.done:
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(printWait):
		return 0, fmt.Errorf("%s still runs %v after its window: %s", child.name, printWait, child.lastWords())
	}
	if child.err != nil {
		return 0, child.Ended()
	}
	return window, nil
}

// stays waits. A program that ends meanwhile is an error.
func (c *Child) stays(ctx context.Context, d time.Duration) error {
	select {
	case <-c.done:
		return c.Ended()
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// connected reports whether the program has opened a socket. One that has ended
// has no files any more.
func (c *Child) connected() bool {
	dir := fmt.Sprintf("/proc/%d/fd", c.cmd.Process.Pid)
	files, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(files, func(file os.DirEntry) bool {
		target, err := os.Readlink(dir + "/" + file.Name())
		return err == nil && strings.HasPrefix(target, "socket:")
	})
}

// requests is the tally of a run of http by a tool, which had so many responses
// a second. A percentile below the tool's resolution is left out.
func (c client) requests(cell result.Cell, rate float64, window time.Duration) Tally {
	seen := cell.Samples[0]
	t := Tally{
		Metrics: map[string]float64{"rate": rate}, Counters: seen.Counters,
		Window: window, Work: rate * window.Seconds(),
	}
	for name, value := range seen.Metrics {
		if strings.HasPrefix(name, "latency_") && value > 0 {
			t.Metrics[name] = value
		}
	}
	for _, name := range slices.Sorted(maps.Keys(seen.Counters)) {
		if n := seen.Counters[name]; n > 0 && strings.HasPrefix(name, "errors") {
			cause := strings.TrimPrefix(strings.TrimPrefix(name, "errors"), "_")
			t.Warnings = append(t.Warnings, strings.TrimSpace("failed-connections: "+c.program.Name+" counted errors "+cause))
		}
	}
	if _, known := t.Counters["non_2xx"]; !known {
		t.Counters["non_2xx"] = 0
	}
	if t.Counters["non_2xx"] > 0 {
		t.Warnings = append(t.Warnings, "non-2xx: the server answered with other statuses than 200 to 299")
	}
	return t
}
