package experiment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tare/lab"
	"tare/network"
	"tare/probe"
	"tare/result"
	"tare/wire"
)

// watcher is a site that can report which devices see a packet.
type watcher interface {
	Watch(ctx context.Context, places []string, flow lab.Flow) (stop func() ([]lab.Sighting, error), err error)
}

// witness repeats a check that has failed, and watches the devices between its
// ends. nil: this time it did not fail.
func (c *conductor) witness(ctx context.Context, cluster string, ends network.Ends, flow lab.Flow, again func() error) error {
	w, can := c.site.(watcher)
	if !can {
		return again()
	}
	places := placesOf(cluster, ends)
	before, errBefore := c.lookAt(ctx, places)
	stop, err := w.Watch(ctx, places, flow)
	if err != nil {
		return errors.Join(again(), err)
	}
	err = again()
	seen, errSeen := stop()
	after, errAfter := c.lookAt(ctx, places)
	if err == nil {
		return nil
	}
	if errSeen = errors.Join(errBefore, errSeen, errAfter); errSeen != nil {
		return fmt.Errorf("%w; and where it was lost can't be seen: %w", err, errSeen)
	}
	client, server := cluster+"."+ends.Client, cluster+"."+ends.Server
	return fmt.Errorf("%w; %s%s", err, lostAt(seen, client, server), troubled(before, after, flow.Least+segmentHeaders(wire.IPOf(ends.Dial))))
}

// placesOf are the places of a cluster's path, as the lab names them.
func placesOf(cluster string, ends network.Ends) []string {
	return result.Names(ends.Places(), func(at string) string { return cluster + "." + at })
}

func (c *conductor) lookAt(ctx context.Context, places []string) ([]probe.Inventory, error) {
	var all []probe.Inventory
	for _, at := range places {
		held, err := c.site.Look(ctx, at)
		if err != nil {
			return nil, err
		}
		all = append(all, held...)
	}
	return all, nil
}

// lostAt names the last device that saw the request, or the reply, by the time
// at which each saw the first. A device in a namespace that the lab cannot enter
// (an engine's own) is behind the last that is seen.
func lostAt(seen []lab.Sighting, client, server string) string {
	request := slices.DeleteFunc(slices.Clone(seen), func(s lab.Sighting) bool { return s.Reply })
	reply := slices.DeleteFunc(slices.Clone(seen), func(s lab.Sighting) bool { return !s.Reply })
	switch {
	case len(request) == 0:
		return "lost in " + client + ": it left by no device"
	case !cameInto(request, server):
		return lostBehind(request)
	case len(reply) == 0:
		return "lost in " + server + ": it came in by " + request[len(request)-1].Device + " and nothing answered"
	case !cameInto(reply, client):
		return "the answer is " + lostBehind(reply)
	}
	return "every device carried it: lost in the stack of " + client
}

// cameInto reports whether a packet arrived at a place.
func cameInto(seen []lab.Sighting, place string) bool {
	return slices.ContainsFunc(seen, func(s lab.Sighting) bool { return s.Namespace == place && !s.Out })
}

// lostBehind writes the packet's way as the pages in docs/networks draw it.
func lostBehind(seen []lab.Sighting) string {
	var way strings.Builder
	at := ""
	for n, s := range seen {
		_, place, _ := strings.Cut(s.Namespace, ".")
		switch {
		case place == at && s.Device == seen[n-1].Device:
			continue // in and out
		case place != at && n > 0:
			way.WriteString(" -> " + place)
		case place != at:
			way.WriteString(place)
		}
		at = place
		way.WriteString(" " + s.Device)
	}
	last := seen[len(seen)-1]
	return fmt.Sprintf("lost behind %s in %s (%s)", last.Device, last.Namespace, way.String())
}

// segmentHeaders are the bytes of those of a TCP segment.
func segmentHeaders(ip wire.IP) int { return ip.Header() + wire.TCPHeader + wire.TCPTimestamps }

// mostTroubled bounds the devices that a loss names in addition to the one that
// lost the packet.
const mostTroubled = 4

// troubled names the devices that are down, that take no packet of the size, or
// that dropped packets meanwhile.
func troubled(before, after []probe.Inventory, size int) string {
	var found []string
	for n, place := range after {
		for _, l := range place.Links {
			name := l.Name + " in " + place.Namespace
			if !l.Up && belongs(l) {
				found = append(found, name+" is down")
			}
			if l.MTU < size && belongs(l) {
				found = append(found, fmt.Sprintf("%s has mtu %d", name, l.MTU))
			}
			if dropped := l.Dropped - droppedBy(before[n], l.Name); dropped > 0 && dropped <= l.Dropped {
				found = append(found, fmt.Sprintf("%s dropped %d", name, dropped))
			}
		}
	}
	if len(found) == 0 {
		return ""
	}
	return "; " + strings.Join(found[:min(len(found), mostTroubled)], "; ")
}

// belongs reports whether somebody added the device: a kernel with tunnels puts
// one of each kind into every namespace, without an address and down.
func belongs(l probe.Link) bool {
	return len(l.Addresses) > 0 || l.Bridge != "" || l.Kind == "veth" || l.Kind == "netkit"
}

func droppedBy(at probe.Inventory, device string) uint64 {
	for _, l := range at.Links {
		if l.Name == device {
			return l.Dropped
		}
	}
	return 0
}
