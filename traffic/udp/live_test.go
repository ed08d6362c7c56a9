package udp

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/safchain/ethtool"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"tare/test/labtest"
	"tare/test/traffictest"
	"tare/traffic"
)

// takeFrames turns GRO on, so that a veth takes what a program sends at its other end.
func takeFrames(m *machine, device string) {
	m.t.Helper()
	m.do(func() error {
		tool, err := ethtool.NewEthtool()
		if err != nil {
			return err
		}
		defer tool.Close()
		return tool.Change(device, map[string]bool{"rx-gro": true})
	})
}

// livePair is a pair whose receiver takes frames, and has an IPv6 address as well.
func livePair(t *testing.T) (sender, receiver *machine) {
	sender, receiver = pair(t)
	takeFrames(receiver, "vb")
	for m, at := range map[*machine][2]string{sender: {"va", "fd00::1/64"}, receiver: {"vb", "fd00::2/64"}} {
		addr, err := netlink.ParseAddr(at[1])
		traffictest.Try(t, err)
		addr.Flags = unix.IFA_F_NODAD
		traffictest.Try(t, m.link.AddrAdd(m.device(at[0]), addr))
	}
	return sender, receiver
}

// Over IPv4 and IPv6, with payloads of even and odd sizes: every frame arrives, which the
// receiver's kernel takes only with the right addresses, lengths and checksum.
func TestLabFramesArrive(t *testing.T) {
	sender, receiver := livePair(t)
	for _, at := range []string{"10.9.0.2:5210", "[fd00::2]:5210"} {
		for _, size := range []int{traffic.HeaderBytes, 64, 1001} {
			sendFrames(t, sender, receiver, at, size)
		}
	}
}

// The rate is the one that was asked for, and the device counts one packet for each frame.
func TestDeepFramesArriveAtTheirRate(t *testing.T) {
	sender, receiver := livePair(t)
	const within, tries = 0.02, 8
	for try := 1; ; try++ {
		asked, received, sent := sendFrames(t, sender, receiver, "10.9.0.2:5210", 64)
		labtest.Near(t, "packets of a datagram", float64(received.Packets)/float64(received.Datagrams), 1, 0.02)
		if math.Abs(sent.Rate()/asked-1) < within && math.Abs(received.Rate()/asked-1) < within {
			return
		}
		if try == tries {
			t.Fatalf("the rate was missed by more than %g in each of %d tries", within, tries)
		}
		labtest.TryAgain(t, "sent %.0f/s, received %.0f/s, asked for %.0f: a busy machine takes the sender's CPU away for longer than may be caught up", sent.Rate(), received.Rate(), asked)
	}
}

// sendFrames does one run, in which all frames arrive as they were sent.
func sendFrames(t *testing.T, sender, receiver *machine, at string, size int) (rate float64, received Received, sent Sent) {
	t.Helper()
	what := fmt.Sprintf("%s, %d bytes", at, size)
	s := PPS{Token: traffictest.Token, Mode: XDP, Size: size, Rate: 20000, Window: traffic.Window{Warmup: 20 * time.Millisecond, Duration: 100 * time.Millisecond}}
	received, sent, serveErr, sendErr := runOn(sender, receiver, receiver.listen(at, 1), s, nil)
	traffictest.Try(t, serveErr, sendErr)
	labtest.MoreThan(t, what+": datagrams", received.Datagrams, 0)
	labtest.Equal(t, what+": lost, duplicates, reordered, unknown", [4]int64{received.Lost, received.Duplicates, received.Reordered, received.Unauthenticated}, [4]int64{})
	labtest.Equal(t, what+": bytes", received.Bytes, received.Datagrams*int64(size))
	return s.Rate, received, sent
}

// What arrives is on the wire what the socket's own datagrams would be.
func TestLabFrameOnTheWire(t *testing.T) {
	sender, receiver := livePair(t)
	var tap int
	receiver.do(func() (err error) {
		if tap, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW, int(binary.NativeEndian.Uint16([]byte{0, unix.ETH_P_ALL}))); err != nil {
			return err
		}
		return unix.SetsockoptTimeval(tap, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 5})
	})
	defer unix.Close(tap)
	s := PPS{Token: traffictest.Token, Mode: XDP, Rate: 1000, Window: traffic.Window{Duration: 50 * time.Millisecond}}
	_, _, serveErr, sendErr := runBetween(sender, receiver, s, nil)
	traffictest.Try(t, serveErr, sendErr)
	near, there := sender.device("va").Attrs().HardwareAddr, receiver.device("vb").Attrs().HardwareAddr
	seen := 0
	for p := make([]byte, 2000); ; {
		n, err := unix.Read(tap, p)
		traffictest.Try(t, err)
		b := p[:n]
		const ip = ethernetBytes
		if len(b) < ip+ipv4Bytes+udpBytes+s.Size+traffic.HeaderBytes || b[ip] != 0x45 || b[ip+ipv4Bytes+udpBytes+traffic.WordAt+7] != byte(traffic.KindData) {
			continue
		}
		udp := b[ip+ipv4Bytes:]
		labtest.Equal(t, "stations", net.HardwareAddr(b[:6]).String()+" "+net.HardwareAddr(b[6:12]).String(), there.String()+" "+near.String())
		labtest.Equal(t, "addresses", fmt.Sprint(net.IP(b[ip+12:ip+16]), net.IP(b[ip+16:ip+20])), "10.9.0.1 10.9.0.2")
		labtest.Equal(t, "server's port", binary.BigEndian.Uint16(udp[2:]), 5210)
		labtest.Equal(t, "UDP length", int(binary.BigEndian.Uint16(udp[4:])), udpBytes+defaultSmall)
		labtest.Equal(t, "IP length", int(binary.BigEndian.Uint16(b[ip+2:])), ipv4Bytes+udpBytes+defaultSmall)
		labtest.Equal(t, "sequence", int(binary.LittleEndian.Uint16(udp[udpBytes+traffic.WordAt:])), seen)
		if seen++; seen == 5 {
			return
		}
	}
}

// Whatever the header's word becomes, the checksum that was made once stays right.
func TestFrameKeepsItsChecksum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		addr := netip.MustParseAddr(rapid.SampledFrom([]string{"10.1.2.3", "fd00::1:2"}).Draw(t, "address"))
		port := uint16(rapid.IntRange(1, math.MaxUint16).Draw(t, "port"))
		way := route{from: netip.AddrPortFrom(addr, port), to: netip.AddrPortFrom(addr.Next(), 5210), hardware: make(net.HardwareAddr, 6), gateway: make(net.HardwareAddr, 6)}
		size := rapid.IntRange(traffic.HeaderBytes, 1400).Draw(t, "size")
		f := newFrame(way, &traffictest.Token, size)
		word := rapid.Uint64().Draw(t, "word")
		binary.LittleEndian.PutUint64(f.bytes[f.word:], word)
		binary.LittleEndian.PutUint64(f.bytes[f.word+8:], ^word)
		udp := f.bytes[len(f.bytes)-size-udpBytes:]
		pseudo := append(way.from.Addr().AsSlice(), way.to.Addr().AsSlice()...)
		pseudo = append(pseudo, 0, unix.IPPROTO_UDP, udp[4], udp[5])
		if sum := checksum(append(pseudo, udp...)); sum != 0 {
			t.Fatalf("the sum with the checksum is %#x, want 0", sum)
		}
		if addr.Is4() && checksum(f.bytes[ethernetBytes:][:ipv4Bytes]) != 0 {
			t.Fatal("the sum of the IP header with its checksum is not 0")
		}
	})
}

// The known sums of RFC 1071, section 3.
func TestChecksum(t *testing.T) {
	labtest.Equal(t, "checksum", checksum([]byte{0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7}), ^uint16(0xddf2))
	labtest.Equal(t, "checksum of an odd number of bytes", checksum([]byte{0x12, 0x34, 0x56}), ^uint16(0x1234+0x5600))
}

// The program that counts sorts sequences as the receiver's thread does in other modes, and
// leaves what is no data of the run to the thread.
func TestLabSieveSortsAsAThread(t *testing.T) {
	l := listenUDP(t)
	s, err := newSieve(l.fd, XDP, &traffictest.Token, 64)
	traffictest.Try(t, err)
	defer func() { traffictest.Try(t, s.close()) }()
	conn, err := net.Dial("udp", l.Addr().String())
	traffictest.Try(t, err)
	defer conn.Close()
	counted, want := newSequences(), newSequences()
	counted.open()
	want.open()
	send := func(h traffic.Header, token traffic.Token, size int) {
		p := make([]byte, size)
		h.Put(p, &token)
		_, err := conn.Write(p)
		traffictest.Try(t, err)
	}
	for _, n := range []int64{0, 1, 2, 2, 5, 4, 4, 3, 5, 9, span + 9, span + 8, 7 + span, 2 * span, 2 * span} {
		send(traffic.Header{Kind: traffic.KindData, Sequence: n}, traffictest.Token, 64)
		want.see(n)
	}
	send(traffic.Header{Kind: traffic.KindHello}, traffictest.Token, 64)
	send(traffic.Header{Kind: traffic.KindData, Sequence: 77}, traffic.Token{1}, 64)
	send(traffic.Header{Kind: traffic.KindData, Sequence: 77}, traffictest.Token, 65)
	labtest.Equal(t, "datagrams", s.take(counted), 15)
	labtest.Equal(t, "first, duplicates, reordered, highest", [4]int64{counted.unique, counted.duplicates, counted.reordered, counted.highest},
		[4]int64{want.unique, want.duplicates, want.reordered, want.highest})
	in := newIntake(Mmsg, 65, false)
	n, errno := in.call(l.fd, unix.MSG_DONTWAIT)
	labtest.Equal(t, "datagrams that the thread got", fmt.Sprint(n, errno), "3 errno 0")
	// A later lane begins anew, and an earlier one counts no more.
	send(traffic.Header{Kind: traffic.KindData, Lane: 2, Sequence: 0}, traffictest.Token, 64)
	send(traffic.Header{Kind: traffic.KindData, Lane: 1, Sequence: 8}, traffictest.Token, 64)
	now := s.read()
	labtest.Equal(t, "lane, first, next", [3]uint64{now.lane, now.unique, now.next}, [3]uint64{2, 1, 1})
}

// What does not carry frames is named with what to do, and another mode can be used.
func TestLabUnfitPathsAreNamed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(sender, receiver *machine)
		want  string
	}{
		"no GRO": {func(*machine, *machine) {}, "ethtool -K NAME gro on"},
		"a queue": {func(sender, receiver *machine) {
			takeFrames(receiver, "vb")
			throttle(sender, "va", 1e9, 1e6)
		}, "queueing discipline tbf"},
		"no right to send": {func(sender, receiver *machine) {
			takeFrames(receiver, "vb")
			drop(sender)
		}, "run tare as root"},
		"no right to receive": {func(sender, receiver *machine) {
			takeFrames(receiver, "vb")
			drop(receiver)
		}, "run tare as root"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sender, receiver := pair(t)
			l := receiver.listen(far, 1)
			c.spoil(sender, receiver)
			s := PPS{Token: traffictest.Token, Mode: XDP, Window: traffic.Window{Duration: 50 * time.Millisecond}}
			_, _, serveErr, sendErr := runOn(sender, receiver, l, s, nil)
			unfit := new(UnfitError)
			if err := errors.Join(sendErr, serveErr); !errors.As(err, &unfit) || !strings.Contains(unfit.Error(), c.want) {
				t.Errorf("error %v, want one that holds %q", err, c.want)
			}
		})
	}
}

// drop takes the rights of root from a machine's thread, for good.
func drop(m *machine) {
	m.t.Helper()
	m.do(func() error {
		header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var none [2]unix.CapUserData
		return unix.Capset(&header, &none[0])
	})
}

// A run that is stopped ends at once, and leaves neither a program nor a thread.
func TestLabStoppedFramesLeaveNothing(t *testing.T) {
	sender, receiver := livePair(t)
	l := receiver.listen(far, 1)
	before := labtest.Descriptors(t)
	ctx, cancel := context.WithCancel(t.Context())
	s := PPS{Token: traffictest.Token, Mode: XDP, Window: traffic.Window{Duration: time.Minute}}
	s.Window.Edge = func(traffic.Edge) { cancel() }
	errs := make(chan error, 2)
	go func() {
		receiver.jobs <- func() error { _, err := ServePPS(ctx, l, s); return err }
		errs <- <-receiver.done
	}()
	go func() {
		sender.jobs <- func() error { _, err := SendPPS(ctx, l.Addr(), s); return err }
		errs <- <-sender.done
	}()
	<-ctx.Done()
	stopped := time.Now()
	for range 2 {
		if err := <-errs; !errors.Is(err, context.Canceled) {
			t.Errorf("the end says %v", err)
		}
	}
	labtest.InTime(t, "the end", time.Since(stopped), 2*time.Second)
	labtest.Equal(t, "open descriptors", labtest.Descriptors(t), before)
	// The socket takes data again, which its filter would have dropped.
	s.Mode, s.Rate, s.Window = Mmsg, 1000, traffic.Window{Duration: 50 * time.Millisecond}
	received, _, serveErr, sendErr := runOn(sender, receiver, l, s, nil)
	traffictest.Try(t, serveErr, sendErr)
	labtest.MoreThan(t, "datagrams", received.Datagrams, 0)
}

// The load at which loss begins is that of a link on the way.
func TestDeepFramesFindTheKnee(t *testing.T) {
	const link, size, within = 20e6, 64, 0.1
	carried := link / 8 / float64(ethernetBytes+ipv4Bytes+udpBytes+size)
	sender, router, receiver := routed(t, link, 10000)
	takeFrames(router, "ra")
	var knees []float64
	for len(knees) < 8 {
		knee, found := sweepFrames(t, sender, receiver, size).Knee()
		if !found || knee > (1+within)*carried {
			t.Fatalf("knee %.0f (%t) on a link that carries %.0f", knee, found, carried)
		}
		if knees = append(knees, knee); knee > (1-within)*carried {
			return
		}
		labtest.TryAgain(t, "knee %.0f on a link that carries %.0f: a busy machine stalls an end, and then less seems to be carried", knee, carried)
	}
	t.Errorf("knees %.0f on a link that carries %.0f", knees, carried)
}

// sweepFrames does one udp_load of mode XDP.
func sweepFrames(t *testing.T, sender, receiver *machine, size int) (sent LoadSent) {
	t.Helper()
	s := Load{Token: traffictest.Token, Mode: XDP, Size: size, Window: traffic.Window{Duration: time.Second}}
	l := receiver.listen(far, 1)
	var received LoadReceived
	traffictest.MustRun(t,
		func(ctx context.Context) (_ int, err error) {
			receiver.jobs <- func() (err error) { received, err = ServeLoad(ctx, l, s); return err }
			return 0, <-receiver.done
		},
		func(ctx context.Context) (_ int, err error) {
			sender.jobs <- func() (err error) { sent, err = SendLoad(ctx, l.Addr(), s); return err }
			return 0, <-sender.done
		})
	traffictest.Try(t, l.Close())
	labtest.Equal(t, "datagrams", received.Datagrams, sent.Datagrams)
	return sent
}
