package udp

import (
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
)

// routeOf is the way of a connected socket's datagrams, whose peer has answered: the
// neighbour is known then.
func routeOf(from, to netip.AddrPort) (way route, err error) {
	way = route{from: from, to: to}
	found, err := netlink.RouteGetWithOptions(to.Addr().AsSlice(), &netlink.RouteGetOptions{SrcAddr: from.Addr().AsSlice()})
	if err != nil || len(found) == 0 {
		return way, fmt.Errorf("look up the route to %v: %w", to.Addr(), err)
	}
	link, err := netlink.LinkByIndex(found[0].LinkIndex)
	if err != nil {
		return way, fmt.Errorf("look up the device to %v: %w", to.Addr(), err)
	}
	a := link.Attrs()
	way.device, way.name, way.kind, way.mtu, way.hardware = a.Index, a.Name, link.Type(), a.MTU, a.HardwareAddr
	if a.Flags&net.FlagLoopback != 0 || a.EncapType != "ether" {
		return way, way.unfit(errors.New("it has no Ethernet"))
	}
	if err := way.unqueued(link); err != nil {
		return way, err
	}
	next := net.IP(to.Addr().AsSlice())
	if gw := found[0].Gw; gw != nil {
		next = gw
	} else if via, ok := found[0].Via.(*netlink.Via); ok {
		next = via.Addr
	}
	neighbours, err := netlink.NeighList(way.device, 0)
	if err != nil {
		return way, fmt.Errorf("list the neighbours of %s: %w", way.name, err)
	}
	for _, n := range neighbours {
		if n.IP.Equal(next) && len(n.HardwareAddr) == len(a.HardwareAddr) {
			way.gateway = n.HardwareAddr
			return way, nil
		}
	}
	return way, way.unfit(fmt.Errorf("no neighbour %v is known", next))
}

// unqueued refuses a device whose queueing discipline shapes what it sends: frames of a
// program pass it by.
func (way route) unqueued(link netlink.Link) error {
	queues, err := netlink.QdiscList(link)
	if err != nil {
		return fmt.Errorf("list the queueing disciplines of %s: %w", way.name, err)
	}
	for _, q := range queues {
		switch q.Type() {
		case "noqueue", "mq", "pfifo_fast", "pfifo", "bfifo", "fq", "fq_codel", "clsact", "ingress":
		default:
			return way.unfit(fmt.Errorf("they would pass its queueing discipline %s by", q.Type()))
		}
	}
	return nil
}

// UnfitError is why a mode can't be measured on a path, and what to do: another mode can.
type UnfitError struct{ Err error }

func (e *UnfitError) Error() string { return e.Err.Error() }

func (e *UnfitError) Unwrap() error { return e.Err }

// unfit is why no frames of a program leave by a route.
func (way route) unfit(cause error) error {
	return &UnfitError{fmt.Errorf("send frames of a program by %s (%s): %w: choose another path, or mode %s", way.name, way.kind, cause, Mmsg)}
}
