package udp

import (
	"context"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tare/test/traffictest"
	"tare/traffic"
)

// An operation of these benchmarks is one pass: a call that sends or receives
// what a mode gives to one. They hold the loops to no allocation at all.

// benchSender is a sending thread on a socket that no process reads.
func benchSender(b *testing.B, size int) *sendThread {
	b.Helper()
	l := listenUDP(b)
	r := traffic.StartRun(context.Background())
	b.Cleanup(r.End)
	fd, err := traffic.OpenSocket(unix.AF_INET, unix.SOCK_DGRAM)
	traffictest.Try(b, err)
	b.Cleanup(func() { traffic.CloseSocket(fd) })
	traffictest.Try(b, unix.Connect(fd, &unix.SockaddrInet4{Port: int(l.Addr().Port()), Addr: l.Addr().Addr().As4()}))
	u := &sendThread{sending: newSending(r, l.Addr(), traffictest.Token, traffictest.ShortWindow, size, 1), flow: []outflow{{fd: fd}}, control: make([]byte, traffic.HeaderBytes)}
	u.meter = traffic.NewMeter(u.table)
	return u
}

func benchPasses(b *testing.B, u *sendThread, p pacing) {
	b.Helper()
	b.ReportAllocs()
	var sent int64
	for b.Loop() {
		n, now, err := p.pass(u)
		if err != nil {
			b.Fatal(err)
		}
		u.meter.Step(traffic.Event{At: now, N: n})
		if err := u.look(now); err != nil {
			b.Fatal(err)
		}
		sent += n
	}
	b.ReportMetric(float64(sent)/b.Elapsed().Seconds(), "datagrams/s")
}

func BenchmarkUDPSend(b *testing.B) {
	for _, mode := range []Mode{Mmsg, Msg, GSO} {
		b.Run(string(mode), func(b *testing.B) {
			u := benchSender(b, defaultSmall)
			v, err := newVolley(mode, defaultSmall, u.flow)
			traffictest.Try(b, err)
			benchPasses(b, u, flood{v})
		})
	}
	b.Run("paced", func(b *testing.B) {
		u := benchSender(b, defaultSmall)
		v, err := newVolley(Mmsg, defaultSmall, u.flow)
		traffictest.Try(b, err)
		p := newRounds(v, 1e5, false)
		benchPasses(b, u, &p)
	})
	b.Run("stream", func(b *testing.B) {
		u := benchSender(b, defaultDatagram)
		p := &schedule{pacer: newPacer(1e4, 1, false), packet: traffic.RandomPayload(defaultDatagram)}
		benchPasses(b, u, p)
	})
}

func BenchmarkUDPReceive(b *testing.B) {
	for _, mode := range []Mode{Mmsg, Msg, GSO, ""} {
		name := string(mode)
		if name == "" {
			name = "stream"
		}
		b.Run(name, func(b *testing.B) { benchReceive(b, mode) })
	}
}

// benchReceive refills the socket whenever it is empty, off the clock.
func benchReceive(b *testing.B, mode Mode) {
	u := benchSender(b, defaultSmall)
	l := listenUDP(b)
	traffictest.Try(b, unix.Connect(u.flow[0].fd, &unix.SockaddrInet4{Port: int(l.Addr().Port()), Addr: l.Addr().Addr().As4()}))
	in := newIntake(mode, defaultSmall, mode == "")
	in.rest = 0
	var delays *delayMeter
	sending := Mmsg
	switch mode {
	case GSO:
		traffictest.Try(b, joinArrivals(l.fd, true))
		sending = GSO
	case "":
		traffictest.Try(b, stampArrivals(l.fd, true))
		delays = newDelayMeter(1000, false)
	}
	v, err := newVolley(sending, defaultSmall, u.flow)
	traffictest.Try(b, err)
	all := newReceiving(u.run, traffictest.Token, traffic.Window{Duration: time.Hour}, defaultSmall, 1, 1)
	receiver := all.thread(0, l.fd, in, delays)
	queued, got := int64(0), int64(0)
	b.ReportAllocs()
	for b.Loop() {
		if queued == 0 {
			b.StopTimer()
			for range 8 {
				n, err := v.send(u, &u.flow[0], v.most())
				traffictest.Try(b, err)
				queued += n
			}
			b.StartTimer()
		}
		n, errno := in.take(l.fd)
		if errno != 0 {
			b.Fatalf("%d datagrams are missing: %v", queued, errno)
		}
		data := receiver.account(n)
		receiver.step(traffic.Event{At: u.run.Now(), N: data, More: false})
		queued -= data
		got += data
	}
	b.ReportMetric(float64(got)/b.Elapsed().Seconds(), "datagrams/s")
	if receiver.failure != nil {
		b.Fatal(receiver.failure)
	}
}
