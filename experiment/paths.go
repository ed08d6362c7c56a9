package experiment

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"tare/lab"
	"tare/network"
	"tare/result"
	"tare/wire"
	"tare/workload"
)

const (
	// checkWindow is how long a functional check exchanges messages.
	checkWindow = 2 * time.Millisecond
	// checkName is the workload of the check over TCP, which every path has.
	checkTCP = "tcp_rr"
	checkUDP = "udp_rr"
)

// checkPaths sends small and MTU-sized messages both ways over every path
// before anything is measured. Cells whose path fails are failed with the hop
// that lost the packets.
func (r *runner) checkPaths(ctx context.Context) error {
	checked := map[string]error{}
	for n, g := range r.groups {
		for _, c := range g.cells {
			if err := ctx.Err(); err != nil {
				return err
			}
			cell := r.cells[keyOf(n, c)]
			if cell.Status != result.StatusOK {
				continue
			}
			probeName := checkTCP
			if kind, _ := workload.Find(g.workload.Name); !kind.TCP {
				probeName = checkUDP
			}
			key := c.underlay + " " + g.path + " " + probeName
			err, done := checked[key]
			if !done {
				r.Progress(Progress{Checking: true, Done: len(checked)})
				err = r.checkPath(ctx, c, g.path, probeName)
				checked[key] = err
			}
			if err != nil {
				cell.Status, cell.Reason = result.StatusFailed, err.Error()
			}
		}
	}
	return ctx.Err()
}

// checkPath tries one path with a small and a full-sized message. What fails
// is tried once more, with an eye on the devices.
func (r *runner) checkPath(ctx context.Context, c place, path, name string) error {
	full := wire.InnerMTU(r.plan.MTU, c.network.Stack) - wire.IPv4Header - wire.TCPHeader - wire.TCPTimestamps
	kind, _ := workload.Find(name)
	for _, size := range []int{kind.Size.Default, full} {
		run := workload.Run{Mode: kind.Modes[0], Flows: 1, Size: size, Duration: checkWindow}
		if _, err := r.measure(ctx, c, path, name, run); err == nil || ctx.Err() != nil {
			continue
		}
		before, errBefore := r.hops(ctx, c.underlay, path)
		_, err := r.measure(ctx, c, path, name, run)
		if err == nil {
			continue
		}
		after, errAfter := r.hops(ctx, c.underlay, path)
		if hopErr := errors.Join(errBefore, errAfter); hopErr != nil {
			return fmt.Errorf("functional check with %d bytes: %w; and the hops can't be read: %w", size, err, hopErr)
		}
		return fmt.Errorf("functional check with %d bytes: %w; %s", size, err, lostAt(before, after, uint64(size)))
	}
	return nil
}

// hop is one device on a path and what it has carried.
type hop struct {
	namespace, device string
	up                bool
	rx, tx            uint64 // bytes
}

// hops reads the devices between the ends of a path, client first: the
// container's, then its host's from the container's side to the underlay's,
// and the same in reverse at the server's side.
func (r *runner) hops(ctx context.Context, underlay, path string) ([]hop, error) {
	ends := r.ends[underlay][path]
	if path == network.SamePod {
		laid, err := r.Site.Look(ctx, underlay+"."+ends.Client)
		return loopbackOf(laid), err
	}
	var all []hop
	for _, side := range []struct {
		place   string
		reverse bool
	}{{ends.Client, false}, {ends.Server, true}} {
		host, _, inContainer := strings.Cut(side.place, "/")
		places := []string{host}
		if inContainer {
			places = []string{side.place, host}
		}
		var part []hop
		for _, p := range places {
			laid, err := r.Site.Look(ctx, underlay+"."+p)
			if err != nil {
				return nil, err
			}
			for _, l := range laid {
				part = append(part, hopsOf(l, side.place, within(ends))...)
			}
		}
		if side.reverse {
			for i, j := 0, len(part)-1; i < j; i, j = i+1, j-1 {
				part[i], part[j] = part[j], part[i]
			}
		}
		all = append(all, part...)
	}
	return all, nil
}

// loopbackOf is all that lies between the containers of a pod.
func loopbackOf(laid []lab.Laid) []hop {
	var all []hop
	for _, namespace := range laid {
		for _, l := range namespace.Links {
			if l.Name == "lo" {
				all = append(all, hop{namespace.Namespace, l.Name, l.Up, l.RxBytes, l.TxBytes})
			}
		}
	}
	return all
}

// hopsOf are a namespace's devices in the order in which a packet leaves: the
// place's own port first, the underlay's last. A container's own device always
// counts; its host's towards other hosts only if the packet goes there.
func hopsOf(laid lab.Laid, place string, within bool) []hop {
	_, container, inContainer := strings.Cut(place, "/")
	isHost := !strings.Contains(laid.Namespace, "/")
	rank := func(l lab.LaidLink) int {
		switch {
		case within && isHost && (l.Kind == "vxlan" || l.Name == lab.Device):
			return -1
		case inContainer && l.Name == "veth-"+container:
			return 0
		case l.Kind == "bridge":
			return 1
		case l.Kind == "vxlan":
			return 2
		case l.Name == lab.Device:
			return 3
		}
		return -1 // of another container, or the loopback
	}
	ordered := make([][]hop, 4)
	for _, l := range laid.Links {
		if n := rank(l); n >= 0 {
			ordered[n] = append(ordered[n], hop{laid.Namespace, l.Name, l.Up, l.RxBytes, l.TxBytes})
		}
	}
	var flat []hop
	for _, some := range ordered {
		flat = append(flat, some...)
	}
	return flat
}

// lostAt names the first hop that carried less than one message of the size.
func lostAt(before, after []hop, size uint64) string {
	if len(before) != len(after) {
		return "the devices of the path changed meanwhile"
	}
	last := ""
	for n := range after {
		name := after[n].device + " in " + after[n].namespace
		if !after[n].up {
			return "lost at " + name + ": it is down"
		}
		carried := max(after[n].rx-before[n].rx, after[n].tx-before[n].tx)
		if carried <= size {
			if last == "" {
				return "lost at " + name + ": nothing went through it"
			}
			return "lost at " + name + ": " + last + " still carried it"
		}
		last = name
	}
	return "every hop carried it: lost in the server's own stack, or on the way back"
}
