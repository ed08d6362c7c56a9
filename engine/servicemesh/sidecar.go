package servicemesh

import (
	"crypto/tls"
	"net"
	"net/netip"
	"time"
)

// protocolOfSidecars is what sidecars call what they speak, by ALPN (Istio's mutual TLS of TCP
// connections).
const protocolOfSidecars = "istio"

// outbound carries a connection of the container to the relay of its destination: for each
// connection one of TLS, as by Envoy's TCP proxy. It goes to the port that it was meant for,
// where the rules of the other end redirect it.
func (c *relayed) outbound(app *net.TCPConn) {
	defer app.Close()
	to, err := originalDestination(app)
	if err != nil {
		reset(app)
		return
	}
	far, err := c.place.dial(netip.Addr{}, false, to)
	if err != nil {
		reset(app) // the container was connected before its relay knew
		return
	}
	defer far.Close()
	abort := func() { reset(app, far) }
	if !c.member(to.Addr()) {
		relay(app, far, abort)
		return
	}
	secure := tls.Client(far, c.trust.with(to.Addr()))
	if err := shake(secure); err != nil {
		abort()
		return
	}
	relay(app, secure, abort)
	awaitEnd(far)
}

// awaitEnd waits until the other relay, which listens, has closed the connection that both have
// ended: the end that closes first keeps its port in TIME_WAIT, and the one that connects needs
// its port again.
func awaitEnd(far *net.TCPConn) {
	if far.SetReadDeadline(time.Now().Add(dialWait)) == nil {
		far.Read(make([]byte, 1)) //nolint:errcheck // it is closed now, whatever came
	}
}

// inbound ends the TLS of another relay, and connects to the container from AppSource.
func (c *relayed) inbound(far *net.TCPConn) {
	defer far.Close()
	to, err := originalDestination(far)
	if err != nil {
		reset(far)
		return
	}
	secure := tls.Server(far, c.trust.with(remote(far)))
	if err := shake(secure); err != nil {
		return // the peer has an alert that says why
	}
	app, err := c.place.dial(AppSource(), false, to)
	if err != nil {
		reset(far)
		return
	}
	defer app.Close()
	relay(secure, app, func() { reset(far, app) })
}

// shake makes the handshake, in bounded time.
func shake(conn *tls.Conn) error {
	if err := conn.SetDeadline(time.Now().Add(dialWait)); err != nil {
		return err
	}
	if err := conn.Handshake(); err != nil {
		return err
	}
	return conn.SetDeadline(time.Time{})
}
