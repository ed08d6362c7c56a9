package tcpstream

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net/netip"
	"sync/atomic"

	"tare/traffic"
)

// LoadedRR is round trips on one connection while others from the same client carry bulk
// data to the same server. The client owns the window.
//
// The requests are due at even times (ProbeRate), and each counts from when it was due: a
// closed loop would ask seldom just when the path is slow.
type LoadedRR struct {
	Token  traffic.Token
	Window traffic.Window // without Slots: a queue needs longer than a slot to fill
	Load   int            // flows of bulk data; default 1
	Size   int            // bytes of a request and of a response, up to MaxProbe; default 1

	// Rate of the bulk data, all flows together. Zero: as fast as the path carries it.
	Rate traffic.BitsPerSecond
}

const (
	// ProbeRate is the requests of a LoadedRR in a second: enough for a p99 within a
	// second, and little beside the load.
	ProbeRate = 1000
	// MaxProbe is the most bytes of each: they fit into one packet. Larger ones would be
	// a load themselves.
	MaxProbe = 1400
)

// LoadedCalls is the client's outcome.
type LoadedCalls struct {
	traffic.Transactions
	Sent *Sent // the bulk data
}

// LoadedServed is the server's outcome.
type LoadedServed struct {
	traffic.Served
	Received *Received // the bulk data, in a window that begins with the client's
}

// checked fills the defaults in, and gives the two halves.
func (c LoadedRR) checked() (trips traffic.RequestResponse, bulk Options, err error) {
	if c.Window.Slots != nil {
		return trips, bulk, errors.New("slots: round trips under load are measured in windows")
	}
	trips, err = traffic.RequestResponse{Token: c.Token, Window: c.Window, Size: c.Size, Rate: ProbeRate, Steps: true}.Checked(1, MaxProbe)
	if err != nil {
		return trips, bulk, err
	}
	window := c.Window
	window.Edge = nil
	bulk, err = Options{Token: c.Token, Window: window, Flows: cmp.Or(c.Load, 1), Rate: c.Rate}.checked()
	return trips, bulk, err
}

// roleRoundTrips is what the flow of the requests is for; the others have those of
// tcp_stream.
const roleRoundTrips = 'q'

// loadedRoles are those of all flows, in the order that they are dialled.
func loadedRoles(bulk Options) []byte { return append([]byte{roleRoundTrips}, bulk.roles()...) }

// ServeLoadedRR serves one LoadedRR.
func ServeLoadedRR(ctx context.Context, l *traffic.Listener, c LoadedRR) (_ LoadedServed, err error) {
	defer traffic.During("serve loaded_rr", &err)
	trips, bulk, err := c.checked()
	if err != nil {
		return LoadedServed{}, err
	}
	r := traffic.StartRun(ctx)
	defer r.End()
	a := traffic.NewAcceptor(r, l, c.Token, traffic.GreetingLen)
	defer a.Close()
	roles := loadedRoles(bulk)
	fds, err := a.AcceptFlows(c.Window.CC, len(roles))
	if err != nil {
		return LoadedServed{}, err
	}
	announced, err := receiveRoles(r, fds, roles)
	if err != nil {
		traffic.CloseSockets(fds)
		return LoadedServed{}, r.Cause(err)
	}
	loaded, _ := divide(fds, announced)
	defer traffic.CloseSockets(loaded)
	asked := fds[bytes.IndexByte(announced, roleRoundTrips)]
	name, err := traffic.Congestion(asked)
	if err != nil {
		traffic.CloseSocket(asked)
		return LoadedServed{}, err
	}
	receiver := newStreamReceiver(r, loaded, bulk)
	var served LoadedServed
	err = both(r,
		func() (err error) { served.Received, err = receiver.work(); return err },
		func() (err error) { served.Transactions, err = traffic.Answer(r, []int{asked}, trips); return err })
	if err != nil {
		return LoadedServed{}, r.Cause(err)
	}
	a.Close()
	served.Unauthenticated, served.Congestion = a.Unauthenticated, name
	return served, nil
}

// CallLoadedRR drives one LoadedRR against a ServeLoadedRR.
func CallLoadedRR(ctx context.Context, to netip.AddrPort, c LoadedRR) (_ LoadedCalls, err error) {
	defer traffic.During("call loaded_rr", &err)
	trips, bulk, err := c.checked()
	if err != nil {
		return LoadedCalls{}, err
	}
	r := traffic.StartRun(ctx)
	defer r.End()
	roles := loadedRoles(bulk)
	fds, err := traffic.DialFlows(r, to, c.Token, len(roles), c.Window.CC)
	if err != nil {
		return LoadedCalls{}, err
	}
	defer traffic.CloseSockets(fds)
	name, err := traffic.Congestion(fds[0])
	if err != nil {
		return LoadedCalls{}, err
	}
	if err := announceRoles(r, fds, roles); err != nil {
		return LoadedCalls{}, err
	}
	request := append([]byte{traffic.RequestByte}, traffic.RandomPayload(trips.Size-1)...)
	flows := []traffic.OpenFlow{traffic.NewOpenFlow(fds[0], nil, request)}
	var calls LoadedCalls
	var under atomic.Int32 // the round trips' window has not closed: the load goes on
	under.Store(1)
	err = both(r,
		func() (err error) { calls.Sent, err = sendStream(r, fds[1:], bulk, &under); return err },
		func() (err error) {
			defer under.Store(0)
			calls.Transactions, err = traffic.CallAtRate(r, trips, flows)
			return err
		})
	if err == nil {
		err = traffic.EndFlows(r, fds[:1])
	}
	if err != nil {
		return LoadedCalls{}, r.Cause(err)
	}
	calls.Congestion = name
	return calls, nil
}
