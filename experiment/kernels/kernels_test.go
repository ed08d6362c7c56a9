package kernels

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"tare/experiment"
	"tare/protocol"
	"tare/result"
	"tare/test/labtest"
)

// guest is a machine in this process: it measures a network that carries so much on its
// kernel. Blocks of all machines drift alike.
type guest struct {
	release string
	carries float64 // bit/s
	measure func(block int) error

	busy *atomic.Int32 // machines that measure
	both *atomic.Bool  // two have measured at the same time
}

func (g guest) machine() Machine {
	return Machine{Image: "/boot/vmlinuz-" + g.release, Release: g.release, Accelerator: "kvm", Boot: g.boot}
}

// boot is what a machine does: its turns, and then its result.
func (g guest) boot(ctx context.Context, in io.Reader, out io.Writer) (int, error) {
	turn := Taker(in, out)
	cell := result.Cell{
		Network: "bridge", Path: "cross-host", Workload: "tcp_stream", Mode: "write128K", Status: result.StatusOK,
		Params: result.Params{"nic": "full"},
	}
	noise := rand.New(rand.NewPCG(uint64(g.carries), 1))
	for block := 0; ; block++ {
		more, err := turn(ctx, block)
		if err != nil {
			return 1, err
		}
		if !more {
			break
		}
		if g.busy.Add(1) > 1 {
			g.both.Store(true)
		}
		if g.measure != nil {
			if err := g.measure(block); err != nil {
				fmt.Fprintf(out, "tare: %v\n", err)
				g.busy.Add(-1)
				return 1, nil
			}
		}
		drift := 1 + 0.3*math.Sin(float64(block))
		value := g.carries * drift * math.Exp(0.002*noise.NormFloat64())
		cell.Samples = append(cell.Samples, result.Sample{Block: block, Metrics: map[string]float64{"throughput": value}})
		g.busy.Add(-1)
	}
	cell.Metrics = []result.Metric{{Name: "throughput", Unit: "bit/s", Better: result.Higher, Value: g.carries}}
	res := &result.Result{Schema: result.Schema, ID: g.release, Environment: result.Environment{Kernel: g.release}, Cells: []result.Cell{cell}}
	return 0, res.Write(out)
}

// guests are a machine of 6.1, its twin, and one of 6.12 that carries a fifth less.
func guests() []guest {
	busy, both := &atomic.Int32{}, &atomic.Bool{}
	return []guest{{"6.1", 1e10, nil, busy, both}, {"6.1", 1e10, nil, busy, both}, {"6.12", 0.8e10, nil, busy, both}}
}

func runGuests(ctx context.Context, all []guest, change func(*result.Plan)) (*result.Result, error) {
	plan := result.Plan{Kernels: []string{"a", "b"}, Blocks: 12, Margin: 0.02, Seed: 7}
	if change != nil {
		change(&plan)
	}
	var machines []Machine
	for _, g := range all {
		machines = append(machines, g.machine())
	}
	return Run(ctx, plan, Options{Machines: machines, Progress: func(experiment.Progress) {}})
}

// TestKernelsAreComparedBlockByBlock: a drift of 60 % that all machines share does not hide
// a change of 20 %.
func TestKernelsAreComparedBlockByBlock(t *testing.T) {
	all := guests()
	res, err := runGuests(context.Background(), all, nil)
	if err != nil {
		t.Fatal(err)
	}
	labtest.Equal(t, "two machines measured at the same time", all[0].both.Load(), false)
	labtest.Equal(t, "cells", len(res.Cells), 2)
	labtest.Equal(t, "cells of the twin", len(res.Kernels.Twin), 1)
	labtest.Equal(t, "kernel of the second cell", res.Cells[1].Params.Text("kernel"), "6.12")
	labtest.NotEqual(t, "group of the second cell", res.Cells[1].Group, res.Cells[0].Group)
	labtest.Equal(t, "kernels", res.Environment.Kernel, "6.1, 6.12")
	labtest.NotEqual(t, "end", res.Finished, "")
	change := theChange(t, res)
	labtest.Near(t, "change", change.Change.Value, 0.2, 0.01)
	labtest.Equal(t, "verdict", change.Change.Verdict, "slower")
	labtest.Near(t, "change of the twin", change.Again.Value, 0, 0.01)
	labtest.Equal(t, "verdict on the twin", change.Again.Verdict, "equal")
}

// TestEmulatedKernelsGetNoVerdict: no time of theirs is a machine's.
func TestEmulatedKernelsGetNoVerdict(t *testing.T) {
	seats := []*seat{}
	for _, g := range guests() {
		s := sit(context.Background(), g.machine())
		labtest.Equal(t, "error", s.await(context.Background()), nil)
		for range 8 {
			labtest.Equal(t, "error", s.measure(context.Background()), nil)
		}
		labtest.Equal(t, "error", s.leave(lastTurn), nil)
		s.res.Environment.CPUModel = "QEMU TCG CPU version 2.5+"
		seats = append(seats, s)
	}
	change := theChange(t, merge(result.Plan{}, seats, result.Tool{}))
	labtest.Near(t, "change", change.Change.Value, 0.2, 0.01)
	labtest.Equal(t, "verdict", change.Change.Verdict, "inconclusive")
}

func theChange(t *testing.T, res *result.Result) result.ComparedMetric {
	t.Helper()
	if len(res.Comparisons) != 1 || len(res.Comparisons[0].Cells) != 1 || len(res.Comparisons[0].Cells[0].Metrics) != 1 {
		t.Fatalf("compared %+v, want one metric of one cell", res.Comparisons)
	}
	m := res.Comparisons[0].Cells[0].Metrics[0]
	if m.Change == nil || m.Again == nil {
		t.Fatalf("metric %+v has no change", m)
	}
	return m
}

// TestMachineThatEndsSaysWhy: what the others measured is kept.
func TestMachineThatEndsSaysWhy(t *testing.T) {
	all := guests()
	all[2].measure = func(block int) error {
		if block == 3 {
			return errors.New("the disk is full")
		}
		return nil
	}
	res, err := runGuests(context.Background(), all, nil)
	if err == nil || res == nil {
		t.Fatalf("result %v, error %v; want both", res, err)
	}
	labtest.Contains(t, "error", err.Error(), "run tare on kernel 6.12")
	labtest.Contains(t, "error", err.Error(), "the disk is full")
	labtest.Equal(t, "cells", len(res.Cells), 1)
	labtest.AtLeast(t, "blocks", len(res.Cells[0].Samples), 3)
	labtest.NotEqual(t, "reason", res.Kernels.Machines[2].Reason, "")
	labtest.Equal(t, "end", res.Finished, "")
}

// greets is a machine that waits for its first turn, and then does something.
func greets(t *testing.T, then func(ctx context.Context, in io.Reader, out io.Writer)) *seat {
	t.Helper()
	s := sit(context.Background(), Machine{Release: "6.1", Boot: func(ctx context.Context, in io.Reader, out io.Writer) (int, error) {
		err := protocol.NewStream(nil, out).Write(protocol.Greeting{Schema: schema})
		then(ctx, in, out)
		return 3, err
	}})
	labtest.Equal(t, "error", s.await(context.Background()), nil)
	return s
}

// A machine that ends while it waits for its turn is not lost without a word.
func TestMachineThatEndsInBetweenSaysWhy(t *testing.T) {
	s := greets(t, func(_ context.Context, _ io.Reader, out io.Writer) { _, _ = io.WriteString(out, "panic\n") })
	<-s.ended
	labtest.Equal(t, "error", fmt.Sprint(s.leave(lastTurn)), "run tare on kernel 6.1: it ended with status 3 before its time; it said:\npanic")
	labtest.Equal(t, "error, once more", s.leave(lastTurn), nil)
}

func TestMachineThatNeverEndsIsStopped(t *testing.T) {
	s := greets(t, func(ctx context.Context, _ io.Reader, _ io.Writer) { <-ctx.Done() }) // nor reads
	labtest.Contains(t, "error", fmt.Sprint(s.leave(10*time.Millisecond)), "end the machine of kernel 6.1: it has not ended in 10ms")
}

// TestInterruptedKernelsKeepTheirBlocks interrupts a run in the middle of a block.
func TestInterruptedKernelsKeepTheirBlocks(t *testing.T) {
	ctx, interrupt := context.WithCancel(context.Background())
	defer interrupt()
	all := guests()
	all[0].measure = func(block int) error {
		if block == 5 {
			interrupt()
		}
		return nil
	}
	res, err := runGuests(ctx, all, nil)
	if !errors.Is(err, context.Canceled) || res == nil {
		t.Fatalf("result %v, error %v; want a result, and that it was cancelled", res, err)
	}
	labtest.AtLeast(t, "blocks", len(res.Cells[0].Samples), 6)
	labtest.AtLeast(t, "blocks of the other kernel", len(res.Cells[1].Samples), 5)
	labtest.Equal(t, "end", res.Finished, "")
}

// TestKernelsEndInTime: a most time that is over before the first block leaves none.
func TestKernelsEndInTime(t *testing.T) {
	res, err := runGuests(context.Background(), guests(), func(p *result.Plan) { p.MaxTime = 1e-9 })
	if err != nil {
		t.Fatal(err)
	}
	labtest.Equal(t, "blocks", len(res.Cells[0].Samples), 0)
	labtest.Contains(t, "warnings", fmt.Sprint(res.Warnings), "max-time: stopped after 0 of 12 blocks")
}
