package traffic_test

import (
	"context"
	"net"
	"testing"

	"tare/test/traffictest"
	"tare/traffic"
	"tare/traffic/tcpstream"
	"tare/traffic/udp"
)

func TestUnauthenticatedPeersAreRefusedAndCounted(t *testing.T) {
	wrong := traffictest.Token
	wrong[15]++
	l := traffictest.ListenTCP(t)
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
		if _, err := c.Write(traffic.Greeting(wrong, traffic.VerbFlow)); err != nil {
			t.Fatal(err)
		}
	}
	window := traffictest.ShortWindow
	window.Edge = func(e traffic.Edge) {
		for range late {
			if c, err := net.Dial("tcp", l.Addr().String()); err == nil && e == traffic.Opening {
				defer c.Close()
				_, _ = c.Write([]byte("GET / HTTP/1.1\r\n\r\n"))
			}
		}
	}
	s := tcpstream.Options{Token: traffictest.Token, Window: window, Flows: 2}
	served, _ := traffictest.MustRun(t,
		func(ctx context.Context) (tcpstream.End, error) { return tcpstream.Serve(ctx, l, s) },
		func(ctx context.Context) (tcpstream.End, error) { return tcpstream.Send(ctx, l.Addr(), s) })
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
	wrong := traffictest.Token
	wrong[0]++
	p := make([]byte, 200)
	traffic.Header{Kind: traffic.KindHello}.Put(p, &wrong)
	short := p[:5]
	before := func() { _, _ = peer.Write(p); _, _ = peer.Write(short) }
	before()
	window := traffictest.ShortWindow
	window.Edge = func(traffic.Edge) { before() }
	s := udp.Stream{Token: traffictest.Token, Window: window, Rate: 5e6}
	received, _ := traffictest.MustRun(t,
		func(ctx context.Context) (udp.Received, error) { return udp.ServeStream(ctx, l, s) },
		func(ctx context.Context) (udp.Sent, error) { return udp.SendStream(ctx, l.Addr(), s) })
	if received.Unauthenticated != 6 || received.Lost != 0 {
		t.Errorf("%d unauthenticated, want 6; %d lost", received.Unauthenticated, received.Lost)
	}
}
