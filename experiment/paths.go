package experiment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"tare/lab"
	"tare/network"
	"tare/result"
	"tare/traffic"
	"tare/wire"
	"tare/workload"
)

const (
	// checkWindow is how long a functional check exchanges messages.
	checkWindow = 2 * time.Millisecond
	// framesWindow is the least that any workload which sends frames takes.
	framesWindow = 20 * time.Millisecond
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
		for _, c := range g.places {
			if err := ctx.Err(); err != nil {
				return err
			}
			cell := r.cells[keyOf(n, c)]
			if cell.Status != result.StatusOK {
				continue
			}
			kind, _ := workload.Find(g.workload.Name)
			if kind.Cycle != nil {
				if err := r.checkOperation(ctx, c, g.path, kind); err != nil {
					cell.Status, cell.Reason = result.StatusFailed, err.Error()
				}
				continue
			}
			probeName := checkTCP
			if !kind.TCP {
				probeName = checkUDP
			}
			key := c.cluster + " " + g.path + " " + probeName
			err, done := checked[key]
			if !done {
				r.Progress(Progress{Checking: true, Done: len(checked)})
				err = r.checkPath(ctx, c, g.path, probeName)
				checked[key] = err
			}
			if err == nil {
				err = r.meet(ctx, c, g.path, cell)
			}
			if err == nil {
				err = r.tryFrames(ctx, c, g)
			}
			if err != nil {
				cell.Status, cell.Reason = statusOf(err), err.Error()
			}
		}
	}
	return ctx.Err()
}

// tryFrames tries whether a path carries the frames of a program, where the group's mode
// sends such: it depends on the device by which they leave.
func (r *runner) tryFrames(ctx context.Context, c place, g group) error {
	run := runOf(r.plan, g.workload)
	if !workload.SendsFrames(run.Mode) {
		return nil
	}
	run.Warmup, run.Duration, run.Interval = 0, framesWindow, 0
	ends := r.ends[c.cluster][g.path]
	_, err := r.between(ctx, c.cluster, ends, r.portOf(c.cluster, ends), g.workload.Name, run)
	return err
}

// statusOf is that of a cell whose path failed so.
func statusOf(err error) string {
	if errors.As(err, new(*traffic.UnfitError)) {
		return result.StatusSkipped
	}
	return result.StatusFailed
}

// checkPath tries one path with a small and a full-sized message. If that fails it
// tries once more, and watches the devices.
func (r *runner) checkPath(ctx context.Context, c place, path, name string) error {
	ends, served := r.ends[c.cluster][path]
	if !served {
		return noEnds(path, c.cluster)
	}
	return r.checkEnds(ctx, c, ends, r.portOf(c.cluster, ends), name)
}

// checkEnds sends a small and a full-sized message both ways between two ends.
func (r *runner) checkEnds(ctx context.Context, c place, ends network.Ends, port uint16, name string) error {
	full := wire.InnerMTU(c.mtu, c.network.Stack) - segmentHeaders(wire.IPOf(ends.Dial))
	kind, _ := workload.Find(name)
	for _, size := range []int{kind.Size.Default, full} {
		run := workload.Run{Mode: kind.Modes[0], Flows: 1, Size: size, Duration: checkWindow}
		once := func() error {
			_, err := r.between(ctx, c.cluster, ends, port, name, run)
			return err
		}
		if err := once(); err == nil || ctx.Err() != nil {
			continue
		}
		if err := r.witness(ctx, c.cluster, ends, lab.Flow{Port: port, Least: size}, once); err != nil {
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
		for _, c := range g.places {
			ends := r.outside[c.cluster]
			if ends == nil || done[c.cluster] {
				continue
			}
			done[c.cluster] = true
			if err := r.checkEnds(ctx, c, *ends, network.OutsidePort, checkTCP); err != nil && ctx.Err() == nil {
				r.warned[c.cluster] = append(slices.Clone(r.warned[c.cluster]), "outside: a container does not reach the other host: "+err.Error())
			}
		}
	}
	return ctx.Err()
}
