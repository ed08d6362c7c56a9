package experiment

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tare/lab"
	"tare/network"
	"tare/result"
	"tare/traffic/udp"
	"tare/wire"
	"tare/workload"
)

const (
	// checkWindow is how long a functional check exchanges messages.
	checkWindow = 2 * time.Millisecond
	// framesWindow is the least that any workload which sends frames takes, and framesAgain
	// what a machine that had no CPU for them in that time gets once more.
	framesWindow = 20 * time.Millisecond
	framesAgain  = 200 * time.Millisecond
	// The workloads of the check: every path carries both.
	checkTCP = "tcp_rr"
	checkUDP = "udp_rr"
)

// checkPaths sends small and MTU-sized messages both ways over every path
// before anything is measured. Cells whose path fails are failed with the hop
// that lost the packets.
func (r *runner) checkPaths(ctx context.Context) error {
	checked := map[string]error{}
	for n, g := range r.groups {
		for _, at := range g.places {
			if err := ctx.Err(); err != nil {
				return err
			}
			cell := r.recorder.cells[keyOf(n, at)]
			if cell.Status != result.StatusOK {
				continue
			}
			if err := r.checkCell(ctx, cell, g, at, checked); err != nil {
				cell.Status, cell.Reason = statusOf(err), err.Error()
			}
		}
	}
	return ctx.Err()
}

// checkCell checks the path of a cell, unless it is among those that were checked.
func (r *runner) checkCell(ctx context.Context, cell *result.Cell, g group, at place, checked map[string]error) error {
	kind, _ := workload.Find(g.workload.Name)
	if kind.Cycle != nil {
		return r.conductor.checkOperation(ctx, at, g.path, kind)
	}
	probeName := checkTCP
	if !kind.TCP {
		probeName = checkUDP
	}
	key := at.cluster + " " + g.path + " " + probeName
	err, done := checked[key]
	if !done {
		r.Progress(Progress{Checking: true, Done: len(checked)})
		err = r.conductor.checkPath(ctx, at, g.path, probeName)
		checked[key] = err
	}
	if err == nil {
		cell.Client, cell.Server, err = r.conductor.meet(ctx, at, g.path)
	}
	if err == nil {
		err = r.conductor.tryFrames(ctx, at, g)
	}
	return err
}

// tryFrames tries whether a path carries the frames of a program, where the group's mode
// sends such: it depends on the device by which they leave.
func (c *conductor) tryFrames(ctx context.Context, at place, g group) error {
	run := runOf(c.plan, g.workload)
	if !workload.SendsFrames(run.Mode) {
		return nil
	}
	run.Warmup, run.Interval = 0, 0
	ends, _ := c.built.ends(at.cluster, g.path)
	try := func(window time.Duration) error {
		run.Duration = window
		_, err := c.between(ctx, at.cluster, ends, c.built.port(at.cluster, ends), g.workload.Name, run)
		return err
	}
	err := try(framesWindow)
	if err == nil || ctx.Err() != nil || statusOf(err) == result.StatusSkipped {
		return err
	}
	return try(framesAgain)
}

// statusOf is that of a cell whose path failed so.
func statusOf(err error) string {
	if errors.As(err, new(*udp.UnfitError)) {
		return result.StatusSkipped
	}
	return result.StatusFailed
}

// checkPath tries one path with a small and a full-sized message. If that fails it
// tries once more, and watches the devices.
func (c *conductor) checkPath(ctx context.Context, at place, path, name string) error {
	ends, served := c.built.ends(at.cluster, path)
	if !served {
		return noEnds(path, at.cluster)
	}
	return c.checkEnds(ctx, at, ends, c.built.port(at.cluster, ends), name)
}

// checkEnds sends a small and a full-sized message both ways between two ends.
func (c *conductor) checkEnds(ctx context.Context, at place, ends network.Ends, port uint16, name string) error {
	full := wire.InnerMTU(at.axes.Count("mtu"), at.network.Stack) - segmentHeaders(wire.IPOf(ends.Dial))
	kind, _ := workload.Find(name)
	for _, size := range []int{kind.Size.Default, full} {
		run := workload.Run{Mode: kind.Modes[0], Flows: 1, Size: size, Duration: checkWindow}
		once := func() error {
			_, err := c.between(ctx, at.cluster, ends, port, name, run)
			return err
		}
		if err := once(); err == nil || ctx.Err() != nil {
			continue
		}
		if err := c.witness(ctx, at.cluster, ends, lab.Flow{Port: port, Least: size}, once); err != nil {
			return fmt.Errorf("functional check with %d bytes: %w", size, err)
		}
	}
	return nil
}

// checkOutside lets a container reach the other host, where its network
// promises that. What fails is a warning: nothing is measured there.
func (r *runner) checkOutside(ctx context.Context) error {
	done := map[string]bool{}
	for _, g := range r.groups {
		for _, at := range g.places {
			ends := r.conductor.built[at.cluster].Outside
			if ends == nil || done[at.cluster] {
				continue
			}
			done[at.cluster] = true
			if err := r.conductor.checkEnds(ctx, at, *ends, network.OutsidePort, checkTCP); err != nil && ctx.Err() == nil {
				r.conductor.built.warn(at.cluster, "outside: a container does not reach the other host: "+err.Error())
			}
		}
	}
	return ctx.Err()
}
