package hostile

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// perSecond is how many connections, and how many datagrams, a storm has in a second.
const perSecond = 200

// The longest that a hostile connection stays, and what it sends at most.
const (
	longest  = 3 * time.Second
	garbage  = 4 << 10 // bytes
	greeting = `{"schema":"tare.serve/2","nonce":"`
)

// counts are a storm's connections and bytes.
type counts struct {
	Connections, Refused int64 // refused: that could not be opened
	Sent, Received       int64 // bytes of all
	Amplified            int64 // connections that received more than they had sent

	CPU time.Duration // that the storm's own process took
}

// add adds those of another storm.
func (c *counts) add(o counts) {
	c.Connections, c.Refused = c.Connections+o.Connections, c.Refused+o.Refused
	c.Sent, c.Received, c.Amplified = c.Sent+o.Sent, c.Received+o.Received, c.Amplified+o.Amplified
	c.CPU += o.CPU
}

// hostility is what one connection says, and for how long it stays.
type hostility struct {
	words  []string // each is sent a pause after the one before
	pause  time.Duration
	closes time.Duration // after the last of them; 0: as late as it may
}

// hostilities are what the connections of a storm do, in turn. None reads what it gets.
func hostilities() []hostility {
	text := make([]byte, garbage)
	_, _ = rand.Read(text)
	whole := greeting + strings.Repeat("0", 32) + "\"}\n"
	return []hostility{
		{words: []string{string(text)}, closes: longest / 6},
		{}, // silence
		{words: []string{greeting}},
		{words: strings.Split(whole, ""), pause: 100 * time.Millisecond}, // slowly
		{words: []string{whole}}, // a closed window: the challenge is never read
		{words: []string{whole, `{"job":{"workload":"tcp_stream","run":{"flows":1}}}` + "\n"}, closes: longest / 6}, // no proof
	}
}

// storm is the verb of the process that storms a server: an address and seconds.
func storm(arguments []string) error {
	if len(arguments) != 2 {
		return errors.New("storm: give an address and a time")
	}
	to, err := netip.ParseAddrPort(arguments[0])
	if err != nil {
		return fmt.Errorf("storm: %w", err)
	}
	span, err := time.ParseDuration(arguments[1])
	if err != nil {
		return fmt.Errorf("storm: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), span)
	defer cancel()
	var all sync.WaitGroup
	var errForged error
	all.Go(func() { errForged = forge(ctx, to) })
	c := connections(ctx, to)
	all.Wait()
	var took unix.Rusage
	err = unix.Getrusage(unix.RUSAGE_SELF, &took)
	c.CPU = time.Duration(took.Utime.Nano() + took.Stime.Nano())
	return errors.Join(errForged, err, json.NewEncoder(os.Stdout).Encode(c))
}

// listen is the verb of a process that listens at an address and takes nothing: the kernel
// alone answers.
func listen(arguments []string) error {
	if len(arguments) != 1 {
		return errors.New("listen: give an address")
	}
	at, err := net.Listen("tcp", arguments[0])
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	defer at.Close()
	fmt.Print(".")
	return unix.Pause() // until it is killed
}

// connections opens so many in a second until the context ends. One thread does all, by
// few system calls: what the storm takes of the machine is not the server's.
func connections(ctx context.Context, to netip.AddrPort) (c counts) {
	kinds := hostilities()
	var open []*hostile
	tick := time.NewTicker(time.Second / perSecond)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			for _, h := range open {
				h.leave(&c)
			}
			return c
		case <-tick.C:
		}
		now := time.Now()
		open = slices.DeleteFunc(open, func(h *hostile) bool { return !h.stays(now, &c) })
		if h, ok := enter(to, kinds[n%len(kinds)], now); ok {
			open = append(open, h)
		} else {
			c.Refused++
		}
	}
}

// hostile is one hostile connection.
type hostile struct {
	hostility
	fd        int
	due, ends time.Time
	sent      int
}

// enter begins to connect.
func enter(to netip.AddrPort, h hostility, now time.Time) (*hostile, bool) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, false
	}
	err = unix.Connect(fd, &unix.SockaddrInet4{Addr: to.Addr().As4(), Port: int(to.Port())})
	if err != nil && !errors.Is(err, unix.EINPROGRESS) {
		unix.Close(fd)
		return nil, false
	}
	return &hostile{hostility: h, fd: fd, due: now.Add(connecting), ends: now.Add(longest)}, true
}

// connecting is how long a connection has until its first word.
const connecting = 5 * time.Millisecond

// closeWait is the state of a connection that the server has closed (TCP_CLOSE_WAIT in
// include/net/tcp_states.h).
const closeWait = 8

// stays sends the next word of a connection, and reports whether it stays.
func (h *hostile) stays(now time.Time, c *counts) bool {
	if len(h.words) > 0 && !now.Before(h.due) {
		n, err := unix.SendmsgN(h.fd, []byte(h.words[0]), nil, nil, unix.MSG_NOSIGNAL)
		h.sent += max(n, 0)
		h.words, h.due = h.words[1:], now.Add(h.pause)
		switch {
		case err != nil: // the server has closed it
			h.words, h.ends = nil, now
		case len(h.words) == 0 && h.closes > 0:
			h.ends = now.Add(h.closes)
		}
	}
	if now.Before(h.ends) {
		return true
	}
	h.leave(c)
	return false
}

// leave closes a connection, and counts what it was.
func (h *hostile) leave(c *counts) {
	defer unix.Close(h.fd)
	info, err := unix.GetsockoptTCPInfo(h.fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	failed, errno := unix.GetsockoptInt(h.fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err != nil || errno != nil || failed == int(unix.ECONNREFUSED) || failed == int(unix.ETIMEDOUT) {
		c.Refused++
		return
	}
	received := int(info.Bytes_received)
	if info.State == closeWait { // it counts the FIN too (tcp_data_queue in net/ipv4/tcp_input.c)
		received--
	}
	c.Connections++
	c.Sent += int64(h.sent)
	c.Received += int64(received)
	if received > h.sent {
		c.Amplified++
	}
}

// forge sends datagrams to the server's port from addresses that are not ours.
func forge(ctx context.Context, to netip.AddrPort) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_RAW)
	if err != nil {
		return fmt.Errorf("open raw socket: %w", err)
	}
	defer unix.Close(fd)
	tick := time.NewTicker(time.Second / perSecond)
	defer tick.Stop()
	for n := uint32(0); ; n++ {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		from := netip.AddrFrom4([4]byte{10, 0, 0, byte(3 + n%250)})
		err := unix.Sendto(fd, datagram(from, to), 0, &unix.SockaddrInet4{Addr: to.Addr().As4()})
		if err != nil && !errors.Is(err, unix.ENOBUFS) {
			return fmt.Errorf("send datagram: %w", err)
		}
	}
}

// datagram is an IPv4 packet with a datagram of 64 bytes (RFC 791, RFC 768); the kernel
// fills in its checksum, and UDP needs none.
func datagram(from netip.Addr, to netip.AddrPort) []byte {
	const header, udp, payload = 20, 8, 64
	p := make([]byte, header+udp+payload)
	p[0], p[8], p[9] = 4<<4|header/4, 64, unix.IPPROTO_UDP
	binary.BigEndian.PutUint16(p[2:], uint16(len(p)))
	source, target := from.As4(), to.Addr().As4()
	copy(p[12:], source[:])
	copy(p[16:], target[:])
	binary.BigEndian.PutUint16(p[header:], 40000)
	binary.BigEndian.PutUint16(p[header+2:], to.Port())
	binary.BigEndian.PutUint16(p[header+4:], udp+payload)
	return p
}
