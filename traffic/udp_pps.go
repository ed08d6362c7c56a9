package traffic

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"
)

// Mode is how many datagrams one system call carries. Each datagram is a
// packet of its own in either mode.
type Mode string

// The modes, the faster first.
const (
	Mmsg Mode = "mmsg" // sendmmsg and recvmmsg, up to 64 datagrams a call
	Msg  Mode = "msg"  // one datagram a call
)

// UDPPPS is datagrams as fast as the sender can. The receiver owns the window.
type UDPPPS struct {
	Token  Token
	Window Window
	Mode   Mode // default Mmsg
	Size   int  // payload bytes of a datagram, HeaderBytes to MaxDatagram; default 64
}

const defaultSmall = 64

func (s UDPPPS) checked() (UDPPPS, error) {
	s.Size = orDefault(s.Size, defaultSmall)
	if s.Mode == "" {
		s.Mode = Mmsg
	}
	switch {
	case s.Size < HeaderBytes || s.Size > MaxDatagram:
		return s, fmt.Errorf("datagrams of %d bytes: want %d to %d", s.Size, HeaderBytes, MaxDatagram)
	case s.Mode != Mmsg && s.Mode != Msg:
		return s, fmt.Errorf("mode %q: want %q or %q", s.Mode, Mmsg, Msg)
	}
	return s, s.Window.check(1)
}

// ServeUDPPPS receives one udp_pps.
func ServeUDPPPS(ctx context.Context, l *PacketListener, s UDPPPS) (UDPReceived, error) {
	s, err := s.checked()
	if err != nil {
		return UDPReceived{}, fmt.Errorf("serve udp_pps: %w", err)
	}
	r := startRun(ctx)
	defer r.end()
	u := newUDPReceiver(r, l.fd, s.Token, s.Window, s.Size, nil)
	if s.Mode == Msg {
		u.take, u.full = u.batch.receiveOne, 1
	}
	received, err := u.serve()
	if err != nil {
		return UDPReceived{}, fmt.Errorf("serve udp_pps: %w", err)
	}
	return received, nil
}

// SendUDPPPS sends one udp_pps to a ServeUDPPPS.
func SendUDPPPS(ctx context.Context, to netip.AddrPort, s UDPPPS) (UDPSent, error) {
	s, err := s.checked()
	if err != nil {
		return UDPSent{}, fmt.Errorf("send udp_pps: %w", err)
	}
	f := &flood{batch: newBatch(batchSize(s.Size), s.Size, false), each: s.Mode == Msg}
	sent, err := sendPackets(ctx, to, s.Token, s.Window, s.Size, f)
	if err != nil {
		return UDPSent{}, fmt.Errorf("send udp_pps: %w", err)
	}
	return sent, nil
}

// flood sends batch after batch.
type flood struct {
	batch *batch
	each  bool // a system call for each datagram
}

// pass sends one batch. A datagram that could not be sent keeps its number
// for the next one, so that it is not counted as lost on the way.
func (f *flood) pass(u *udpSender) (int64, time.Duration, error) {
	for i := range f.batch.messages {
		header{kind: kindData, sequence: u.next + int64(i)}.put(f.batch.buffer(i), &u.token)
	}
	sent, err := f.send(u)
	u.next += sent
	return sent, u.run.now(), err
}

func (f *flood) send(u *udpSender) (int64, error) {
	if f.each {
		for i := range f.batch.messages {
			if _, errno := send(u.fd, f.batch.buffer(i), 0); errno != 0 {
				return int64(i), u.refused(errno)
			}
		}
		return int64(len(f.batch.messages)), nil
	}
	n, errno := f.batch.send(u.fd)
	switch {
	case errno != 0:
		return 0, u.refused(errno)
	case n < len(f.batch.messages): // the one after the last did not go
		return int64(n), u.refused(unix.ENOBUFS)
	}
	return int64(n), nil
}
