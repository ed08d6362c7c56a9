// Package tcprr is the loops of tcp_rr, requests and responses on lasting connections.
package tcprr

import (
	"context"
	"net/netip"

	"tare/traffic"
)

// Serve answers one tcp_rr.
func Serve(ctx context.Context, l *traffic.Listener, c traffic.RequestResponse) (_ traffic.Served, err error) {
	defer traffic.During("serve tcp_rr", &err)
	if c, err = c.Checked(1, traffic.MaxRequest); err != nil {
		return traffic.Served{}, err
	}
	r := traffic.StartRun(ctx)
	defer r.End()
	a := traffic.NewAcceptor(r, l, c.Token, traffic.GreetingLen)
	defer a.Close()
	fds, err := a.AcceptFlows(c.Window.CC, c.Flows)
	if err != nil {
		return traffic.Served{}, err
	}
	name, err := traffic.Congestion(fds[0])
	if err != nil {
		traffic.CloseSockets(fds)
		return traffic.Served{}, err
	}
	answered, err := traffic.Answer(r, fds, c)
	if err != nil {
		return traffic.Served{}, r.Cause(err)
	}
	a.Close()
	return traffic.Served{Transactions: answered, Unauthenticated: a.Unauthenticated, Congestion: name}, nil
}

// Call runs one tcp_rr against a Serve.
func Call(ctx context.Context, to netip.AddrPort, c traffic.RequestResponse) (_ traffic.Transactions, err error) {
	defer traffic.During("call tcp_rr", &err)
	if c, err = c.Checked(1, traffic.MaxRequest); err != nil {
		return traffic.Transactions{}, err
	}
	r := traffic.StartRun(ctx)
	defer r.End()
	fds, err := traffic.DialFlows(r, to, c.Token, c.Flows, c.Window.CC)
	if err != nil {
		return traffic.Transactions{}, err
	}
	defer traffic.CloseSockets(fds)
	name, err := traffic.Congestion(fds[0])
	if err != nil {
		return traffic.Transactions{}, err
	}
	if err := r.Rest(c.Window.Idle); err != nil {
		return traffic.Transactions{}, err
	}
	request := append([]byte{traffic.RequestByte}, traffic.RandomPayload(c.Size-1)...)
	var loops []traffic.Loop
	var flows []traffic.OpenFlow
	for _, fd := range fds {
		if c.Rate > 0 {
			flows = append(flows, traffic.NewOpenFlow(fd, nil, request))
			continue
		}
		loops = append(loops, traffic.Loop{FD: fd, Dialogue: &traffic.TCPDialogue{FD: fd, Request: request, Response: traffic.Buffer(c.Size)}})
	}
	c.Timeout = 0
	t, err := traffic.CallLoops(r, c, loops, flows)
	if err == nil {
		err = traffic.EndFlows(r, fds)
	}
	if err != nil {
		return traffic.Transactions{}, err
	}
	t.Congestion = name
	return t, nil
}
