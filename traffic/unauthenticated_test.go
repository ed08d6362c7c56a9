package traffic

import (
	"context"
	"net"
	"testing"
)

func TestUnauthenticatedPeersAreRefusedAndCounted(t *testing.T) {
	wrong := testToken
	wrong[15]++
	l := listenTCP(t)
	const silent, talking, late = 3, 4, 2
	for range silent {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	for range talking {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := c.Write(greeting(wrong, verbFlow)); err != nil {
			t.Fatal(err)
		}
	}
	window := shortWindow
	window.Edge = func(e Edge) {
		for range late {
			if c, err := net.Dial("tcp", l.Addr().String()); err == nil && e == Opening {
				defer c.Close()
				_, _ = c.Write([]byte("GET / HTTP/1.1\r\n\r\n"))
			}
		}
	}
	s := TCPStream{Token: testToken, Window: window, Flows: 2}
	served, _ := mustRun(t,
		func(ctx context.Context) (TCPStreamEnd, error) { return ServeTCPStream(ctx, l, s) },
		func(ctx context.Context) (TCPStreamEnd, error) { return SendTCPStream(ctx, l.Addr(), s) })
	if want := int64(silent + talking + 2*late); served.Unauthenticated != want {
		t.Errorf("%d unauthenticated, want %d", served.Unauthenticated, want)
	}
	if served.Received.Goodput() == 0 {
		t.Error("the unauthenticated peers stopped the run")
	}
}

func TestLabUnauthenticatedDatagramsAreCounted(t *testing.T) {
	l := listenUDP(t)
	peer, err := net.Dial("udp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer peer.Close()
	wrong := testToken
	wrong[0]++
	p := make([]byte, 200)
	header{kind: kindHello}.put(p, &wrong)
	short := p[:5]
	before := func() { _, _ = peer.Write(p); _, _ = peer.Write(short) }
	before()
	window := shortWindow
	window.Edge = func(Edge) { before() }
	s := UDPStream{Token: testToken, Window: window, Rate: 5e6}
	received, _ := mustRun(t,
		func(ctx context.Context) (UDPReceived, error) { return ServeUDPStream(ctx, l, s) },
		func(ctx context.Context) (UDPSent, error) { return SendUDPStream(ctx, l.Addr(), s) })
	if received.Unauthenticated != 6 || received.Lost != 0 {
		t.Errorf("%d unauthenticated, want 6; %d lost", received.Unauthenticated, received.Lost)
	}
}
