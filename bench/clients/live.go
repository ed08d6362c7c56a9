package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"time"

	"tare/result"
	"tare/stats"
)

// contest is a client of ours and another of the same server, on the loopback.
type contest struct {
	name, other string
	get         string // the command that installs what it needs

	// serve is the command of the server, which listens at an address; its files are in dir.
	serve func(at netip.AddrPort, dir string) []string
	// call is the command of the other client, and read what it printed. Where it prints no
	// rate, read gives how many transactions it did, as count.
	call func(at netip.AddrPort, dir string) []string
	read func(printed []byte) (figures, error)
}

// figures are what a client measured, by the names of metrics: rates in 1/s, times in s.
type figures map[string]float64

// findContest returns a contest by name.
func findContest(name string) (contest, bool) {
	return result.First([]contest{tlsContest(), grpcContest()}, func(c contest) bool { return c.name == name })
}

const (
	serverCPU, clientCPU = "0", "1"
	serverWait           = 5 * time.Second
	warmup               = 200 * time.Millisecond
)

// weigh lets both clients call the same server in turn, in random order, and prints the
// medians and the ratios with their intervals.
func (c contest) weigh(ctx context.Context, w io.Writer, pairs int) (err error) {
	dir, err := os.MkdirTemp("", "tare-clients-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	at, stop, err := c.start(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	var ours, theirs []figures
	own, err := os.Executable()
	if err != nil {
		return err
	}
	for range pairs {
		turns := []func() error{
			func() error {
				f, err := timed(ctx, []string{own, callVerb, c.name, at.String()}, readOwn)
				ours = append(ours, f)
				return err
			},
			func() error {
				f, err := timed(ctx, c.call(at, dir), c.read)
				theirs = append(theirs, f)
				return err
			},
		}
		if rand.IntN(2) == 0 {
			turns[0], turns[1] = turns[1], turns[0]
		}
		for _, turn := range turns {
			if err := turn(); err != nil {
				return err
			}
		}
	}
	fmt.Fprintf(w, "| %s | tare | %s | tare / %s |\n|---|---|---|---|\n", c.name, c.other, c.other)
	for _, name := range []string{"rate", "latency_mean", "latency_p50", "latency_p99", "client_cpu"} {
		printRatio(w, name, ours, theirs)
	}
	return nil
}

// printRatio prints one measure, where both have it.
func printRatio(w io.Writer, name string, ours, theirs []figures) {
	var mine, other, logs []float64
	for n := range ours {
		if a, b := ours[n][name], theirs[n][name]; a > 0 && b > 0 {
			mine, other, logs = append(mine, a), append(other, b), append(logs, math.Log(a/b))
		}
	}
	if len(logs) == 0 {
		return
	}
	ratio, known := stats.HodgesLehmann(logs)
	text := fmt.Sprintf("%.3f", math.Exp(median(logs)))
	if known && len(logs) >= stats.MinBlocks {
		text = fmt.Sprintf("%.3f [%.3f, %.3f]", math.Exp(ratio.Value), math.Exp(ratio.Low), math.Exp(ratio.High))
	}
	fmt.Fprintf(w, "| %s | %.4g | %.4g | %s |\n", name, median(mine), median(other), text)
}

// start starts the server, and waits until it listens.
func (c contest) start(ctx context.Context, dir string) (at netip.AddrPort, stop func() error, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return at, nil, err
	}
	at = l.Addr().(*net.TCPAddr).AddrPort()
	if err := l.Close(); err != nil {
		return at, nil, err
	}
	argv := c.serve(at, dir)
	ctx, cancel := context.WithCancel(ctx)
	server := exec.CommandContext(ctx, "taskset", append([]string{"-c", serverCPU}, argv...)...)
	server.Dir = dir
	var printed strings.Builder
	server.Stdout, server.Stderr = &printed, &printed
	if err := server.Start(); err != nil {
		cancel()
		return at, nil, fmt.Errorf("start the server of %s: %w: %s", c.name, err, c.get)
	}
	stop = func() error {
		cancel()
		if err := server.Wait(); err != nil && ctx.Err() == nil {
			return err
		}
		return nil
	}
	for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		conn, err := net.Dial("tcp", at.String())
		if err == nil {
			return at, stop, conn.Close()
		}
		if time.Since(begun) > serverWait {
			return at, nil, errors.Join(fmt.Errorf("server of %s: %w: %s: %s", c.name, err, printed.String(), c.get), stop())
		}
	}
}

// timed runs a client to its end. A rate that it does not print is its count over its time,
// and its CPU time is that of a transaction.
func timed(ctx context.Context, argv []string, read func([]byte) (figures, error)) (figures, error) {
	client := exec.CommandContext(ctx, "taskset", append([]string{"-c", clientCPU}, argv...)...)
	begun := time.Now()
	printed, err := client.Output()
	took := time.Since(begun)
	if failed := new(exec.ExitError); errors.As(err, &failed) {
		err = fmt.Errorf("%w: %s%s", err, printed, failed.Stderr)
	}
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", argv[0], err)
	}
	f, err := read(printed)
	if err != nil {
		return nil, fmt.Errorf("read what %s printed: %w", argv[0], err)
	}
	if f["rate"] == 0 {
		f["rate"] = f["count"] / took.Seconds()
	}
	cpu := client.ProcessState.UserTime() + client.ProcessState.SystemTime()
	f["client_cpu"] = cpu.Seconds() / f["count"]
	return f, nil
}

// readOwn reads what our client printed.
func readOwn(printed []byte) (f figures, err error) {
	err = json.Unmarshal(printed, &f)
	return f, err
}
