package trace

import (
	"cmp"
	"slices"
	"strings"

	"tare/result"
)

// The directions of a hop.
const (
	Request  = "request"
	Response = "response"
)

// The names of hops that are no device's own.
const (
	hopSend        = "send"          // system call, socket, TCP or UDP, IP
	hopQueue       = "queue"         // the device's queueing discipline, and the way to its driver
	hopBacklog     = "backlog"       // the wait until a CPU handles what arrived
	hopGRO         = "GRO"           // joining segments
	hopBridge      = "bridge"        // from port to port, or between a port and the bridge's own device
	hopForward     = "forward"       // routing and netfilter, between two devices of a host
	hopEncapsulate = "encapsulation" // the tunnel's headers, and the route of the outer packet
	hopDecapsulate = "decapsulation" // the outer packet's way up, until the tunnel's device has the inner one
	hopUnderlay    = "underlay"      // between hosts
	hopReceive     = "receive"       // IP, TCP or UDP, until the data is in the socket
	hopWakeUp      = "wake-up"       // until the reader has the data: scheduling and copying
	hopApplication = "application"   // an end's own: out of one system call, its code, into the next
	hopOther       = "other"
)

// tunnels are the kinds of devices that put packets into others.
var tunnels = []string{"vxlan", "geneve", "gre", "gretap", "ipip", "sit", "wireguard", "xfrm", "ip6tnl"}

// Whole is what the hops of a path add up to, in s.
type Whole struct {
	Ways uint64  // that were added up
	Mean float64 // of those that took as long as most, from the first point to the last
	Sum  float64 // of the hops' means for each of those
	like float64 // how many they count as
}

// hop is a leg with what it took.
type hop struct {
	leg Leg
	*Span
}

// Hops names the legs of a path, in the order in which a packet meets them. A
// leg that is rare and short is joined with others as "other". Clean is left
// open.
//
// Means are of the middle fifth of the ways, so that they add up and a way that
// was interrupted does not count. Quantiles are of all.
func Hops(p Path) ([]result.Hop, Whole) {
	whole := Whole{Ways: p.Whole.All.Count, like: p.Whole.Like.Count}
	if whole.like == 0 {
		return []result.Hop{}, whole
	}
	ways := whole.like
	whole.Mean = p.Whole.Like.Sum / ways / 1e9
	var legs []hop
	for leg, span := range p.Legs {
		legs = append(legs, hop{leg, span})
		whole.Sum += span.Like.Sum / ways / 1e9
	}
	slices.SortFunc(legs, func(a, b hop) int {
		return cmp.Or(cmp.Compare(direction(a.leg), direction(b.leg)), cmp.Compare(a.order(), b.order()), cmp.Compare(a.leg.To.Point, b.leg.To.Point))
	})
	hops := []result.Hop{}
	others := map[string]*Span{}
	for _, h := range inOrder(legs) {
		share := h.Like.Sum / ways / 1e9 / whole.Sum
		if dir := direction(h.leg); share < leastShare && h.Like.Count < leastCount*ways {
			if others[dir] == nil {
				others[dir] = new(Span)
			}
			others[dir].add(h.Span)
			continue
		}
		name, at, device := label(h.leg)
		hops = append(hops, h.measured(result.Hop{Name: name, Direction: direction(h.leg), At: at, Device: device}, whole))
	}
	for _, dir := range []string{Request, Response} {
		if span := others[dir]; span != nil {
			hops = append(hops, span.measured(result.Hop{Name: hopOther, Direction: dir}, whole))
		}
	}
	return hops, whole
}

// inOrder lets each leg be followed by the one that most packets took next,
// and where there is none by the first of what is left.
func inOrder(left []hop) []hop {
	var chain []hop
	for len(left) > 0 {
		next := 0
		if len(chain) > 0 {
			last := chain[len(chain)-1].leg
			for n, h := range left {
				follows := func(h hop) bool { return h.leg.From == last.To && h.leg.Response == last.Response }
				if follows(h) && (!follows(left[next]) || h.All.Count > left[next].All.Count) {
					next = n
				}
			}
		}
		chain = append(chain, left[next])
		left = slices.Delete(left, next, next+1)
	}
	return chain
}

// A leg is listed by itself if it has this share of the whole, or if so many of
// the ways lead over it.
const (
	leastShare = 0.005
	leastCount = 0.2
)

func direction(leg Leg) string {
	if leg.Response {
		return Response
	}
	return Request
}

func (h hop) order() float64 { return float64(h.All.Order) / float64(max(1, h.All.Count)) }

func (s *Span) measured(into result.Hop, whole Whole) result.Hop {
	ways := whole.like
	into.Visits = s.Like.Count / ways
	into.Mean = s.Like.Sum / ways / 1e9
	into.Share = into.Mean / whole.Sum
	into.P50, into.P99 = s.All.Quantile(0.50)/1e9, s.All.Quantile(0.99)/1e9
	return into
}

// label names a leg, and the place that it belongs to.
func label(leg Leg) (name, at, device string) {
	from, to := leg.From, leg.To
	switch {
	case to.Point == pointSend:
		return hopApplication, to.At, ""
	case from.Point == pointSend:
		return hopSend, to.At, to.Device.Name
	case to.Point == pointReady:
		return hopReceive, to.At, from.Device.Name
	case to.Point == pointReturn:
		return hopWakeUp, to.At, ""
	case to.Point == pointTransmit && from.Point == pointQueue:
		return hopQueue, to.At, to.Device.Name
	case to.Point == pointReceive && from.Point == pointArrive:
		return hopBacklog, to.At, to.Device.Name
	case to.Point == pointReceive && from.Point == pointPoll:
		return hopGRO, to.At, to.Device.Name
	case from.Point == pointTransmit && to.Point == pointQueue:
		return below(from)
	case from.Point == pointTransmit:
		return across(from, to)
	case from.Point == pointReceive && to.Point == pointQueue:
		return onward(from, to)
	case from.Point == pointReceive:
		return above(to)
	}
	return hopOther, to.At, to.Device.Name
}

// below is the leg from a device to the one below it.
func below(from Stop) (name, at, device string) {
	if slices.Contains(tunnels, from.Device.Kind) {
		return hopEncapsulate, from.At, from.Device.Name
	}
	return kindOf(from.Device), from.At, from.Device.Name
}

// above is the leg from a device to the one above it.
func above(to Stop) (name, at, device string) {
	if slices.Contains(tunnels, to.Device.Kind) {
		return hopDecapsulate, to.At, to.Device.Name
	}
	return kindOf(to.Device), to.At, to.Device.Name
}

// across is the leg from one device to its peer.
func across(from, to Stop) (name, at, device string) {
	isHost := func(s Stop) bool { return !strings.Contains(s.At, "/") }
	if from.At != to.At && isHost(from) && isHost(to) {
		return hopUnderlay, to.At, to.Device.Name
	}
	return kindOf(to.Device), to.At, to.Device.Name
}

// onward is the leg from a device that received to one that sends.
func onward(from, to Stop) (name, at, device string) {
	if from.Device.Master != "" && from.Device.Master == to.Device.Master {
		if from.Device.MasterKind != "bridge" {
			return from.Device.MasterKind, to.At, from.Device.Master
		}
		return hopBridge, to.At, from.Device.Master
	}
	return hopForward, to.At, to.Device.Name
}

// kindOf names a device's own hop.
func kindOf(d Device) string {
	switch {
	case d.Name == "lo":
		return "loopback"
	case d.Kind == "":
		return hopOther
	}
	return d.Kind
}
