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
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// perSecond is how many connections, and how many datagrams, a storm has in a second.
const perSecond = 200

// The longest that a hostile connection stays, and what it sends at most.
const (
	longest  = 3 * time.Second
	garbage  = 4 << 10 // bytes
	hailWord = `{"schema":"tare.serve/2","nonce":"`
)

// counts are a storm's connections and bytes.
type counts struct {
	Connections, Refused int64 // refused: that could not be opened
	Sent, Received       int64 // bytes of all
	Amplified            int64 // connections that received more than they had sent
}

// hostility is what one connection does.
type hostility func(ctx context.Context, c net.Conn) (sent int)

// hostilities are what the connections of a storm do, in turn.
func hostilities() []hostility {
	say := func(c net.Conn, words string) int {
		n, _ := c.Write([]byte(words)) // the server may have refused it already
		return n
	}
	stay := func(ctx context.Context) { <-ctx.Done() }
	return []hostility{
		func(_ context.Context, c net.Conn) int { // garbage
			text := make([]byte, garbage)
			_, _ = rand.Read(text)
			return say(c, string(text))
		},
		func(ctx context.Context, c net.Conn) int { stay(ctx); return 0 }, // silence
		func(ctx context.Context, c net.Conn) int { // half a greeting
			n := say(c, hailWord)
			stay(ctx)
			return n
		},
		func(ctx context.Context, c net.Conn) (sent int) { // slowly
			for _, one := range hailWord + strings.Repeat("0", 32) {
				if ctx.Err() != nil {
					break
				}
				sent += say(c, string(one))
				time.Sleep(100 * time.Millisecond)
			}
			return sent
		},
		func(ctx context.Context, c net.Conn) int { // a closed window: it never reads
			n := say(c, hailWord+strings.Repeat("0", 32)+"\"}\n")
			stay(ctx)
			return n
		},
		func(_ context.Context, c net.Conn) int { // a request without a proof
			n := say(c, hailWord+strings.Repeat("0", 32)+"\"}\n")
			return n + say(c, `{"job":{"workload":"tcp_stream","run":{"flows":1}}}`+"\n")
		},
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
	return errors.Join(errForged, json.NewEncoder(os.Stdout).Encode(c))
}

// connections opens so many in a second until the context ends.
func connections(ctx context.Context, to netip.AddrPort) counts {
	var c counts
	var all sync.WaitGroup
	kinds := hostilities()
	tick := time.NewTicker(time.Second / perSecond)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			all.Wait()
			return c
		case <-tick.C:
		}
		all.Go(func() {
			conn, err := net.DialTimeout("tcp", to.String(), time.Second)
			if err != nil {
				atomic.AddInt64(&c.Refused, 1)
				return
			}
			defer conn.Close()
			atomic.AddInt64(&c.Connections, 1)
			within, cancel := context.WithTimeout(ctx, longest)
			defer cancel()
			sent := kinds[n%len(kinds)](within, conn)
			received := drain(conn)
			atomic.AddInt64(&c.Sent, int64(sent))
			atomic.AddInt64(&c.Received, int64(received))
			if received > sent {
				atomic.AddInt64(&c.Amplified, 1)
			}
		})
	}
}

// drain reads what a server has sent, until it closes.
func drain(c net.Conn) (received int) {
	if c.SetReadDeadline(time.Now().Add(500*time.Millisecond)) != nil {
		return 0
	}
	buf := make([]byte, 4096)
	for {
		n, err := c.Read(buf)
		received += n
		if err != nil {
			return received
		}
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
