package lab

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Sighting is a device that saw a packet of a flow.
type Sighting struct {
	Namespace string `json:"namespace"`
	Device    string `json:"device"`
	Out       bool   `json:"out"`   // it left by the device; else it came in
	Reply     bool   `json:"reply"` // it came from the server's port
	Time      int64  `json:"time"`  // of the first, ns since 1970 by the kernel's clock
}

// Flow is what a watch looks for: TCP and UDP packets to or from a port, in whatever
// headers around them that are not encrypted; over IPv6 between addresses of the lab.
type Flow struct {
	Port  uint16
	Least int // bytes: shorter packets are not counted
}

// Watch is what the devices of some namespaces see of a flow. It is for the
// moment in which a packet is lost, never for one that is measured: the kernel
// copies every packet to it.
type Watch struct {
	flow Flow
	over atomic.Bool
	wait sync.WaitGroup

	mu   sync.Mutex
	seen map[sighted]int64
	errs []error
}

// sighted is a device by its index, and the packet's way.
type sighted struct {
	in         *Namespace
	index      int
	out, reply bool
}

const (
	watchStep   = 20 * time.Millisecond // how soon a watch ends
	watchSettle = 50 * time.Millisecond // until the kernel stamps packets as they pass, not as they are read
	watchDepth  = 192                   // bytes of a packet in which its headers must begin
)

// StartWatch begins to watch.
func StartWatch(places []*Namespace, flow Flow) (*Watch, error) {
	w := &Watch{flow: flow, seen: map[sighted]int64{}}
	for _, ns := range places {
		fd, err := ns.openPackets()
		if err != nil {
			_, stopErr := w.Stop()
			return nil, errors.Join(fmt.Errorf("watch packets in %s: %w", ns.Name, err), stopErr)
		}
		w.wait.Go(func() {
			err := errors.Join(w.read(ns, fd), unix.Close(fd))
			w.mu.Lock()
			w.errs = append(w.errs, err)
			w.mu.Unlock()
		})
	}
	time.Sleep(watchSettle)
	return w, nil
}

// openPackets opens a socket that sees what every device of the namespace
// sends and receives (packet(7)).
func (ns *Namespace) openPackets() (fd int, err error) {
	err = ns.Do(func() error {
		protocol := binary.BigEndian.AppendUint16(nil, unix.ETH_P_ALL)
		fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, int(binary.NativeEndian.Uint16(protocol)))
		if err != nil {
			return err
		}
		step := unix.NsecToTimeval(int64(watchStep))
		err := errors.Join(
			unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &step),
			unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1))
		if err != nil {
			return errors.Join(err, unix.Close(fd))
		}
		return nil
	})
	return fd, err
}

// read notes what a socket sees until the watch is over and it is empty.
func (w *Watch) read(ns *Namespace, fd int) error {
	packet, control := make([]byte, watchDepth), make([]byte, 128)
	for {
		over := w.over.Load()
		n, controlled, _, from, err := unix.RecvmsgBuffers(fd, [][]byte{packet}, control, unix.MSG_TRUNC)
		switch {
		case errors.Is(err, unix.EAGAIN) && over:
			return nil
		case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINTR), errors.Is(err, unix.ENETDOWN):
			continue // nothing yet; or a device went down, which is what is looked for
		case err != nil:
			return fmt.Errorf("watch packets in %s: %w", ns.Name, err)
		}
		link, ok := from.(*unix.SockaddrLinklayer)
		reply, ours := w.flow.find(packet[:min(n, len(packet))])
		if ok && ours && n >= w.flow.Least {
			w.note(sighted{ns, link.Ifindex, link.Pkttype == unix.PACKET_OUTGOING, reply}, arrival(control[:controlled]))
		}
	}
}

func (w *Watch) note(s sighted, at int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if first, had := w.seen[s]; !had || at < first {
		w.seen[s] = at
	}
}

// arrival is when the kernel saw a packet, in ns.
func arrival(control []byte) int64 {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return 0
	}
	for _, m := range messages {
		if m.Header.Level == unix.SOL_SOCKET && m.Header.Type == unix.SCM_TIMESTAMPNS && len(m.Data) >= 16 {
			return int64(binary.NativeEndian.Uint64(m.Data))*1e9 + int64(binary.NativeEndian.Uint64(m.Data[8:]))
		}
	}
	return 0
}

// find looks for a packet of the flow in a frame. What ICMP quotes is none.
func (f Flow) find(frame []byte) (reply, found bool) {
	for at := range frame {
		for _, look := range []func(packet []byte) (reply, found, over bool){f.findIPv4, f.findIPv6} {
			if reply, found, over := look(frame[at:]); over {
				return reply, found
			}
		}
	}
	return false, false
}

// findIPv4 looks for an IPv4 header without options whose checksum is right, and then the
// ports. over: nothing that follows is of the flow.
func (f Flow) findIPv4(packet []byte) (reply, found, over bool) {
	const header, ports = 20, 4
	if len(packet) < header+ports || packet[0] != 0x45 || !sound(packet[:header]) {
		return false, false, false
	}
	switch packet[9] {
	case unix.IPPROTO_ICMP:
		return false, false, true
	case unix.IPPROTO_TCP, unix.IPPROTO_UDP:
		return f.between(packet[header:])
	}
	return false, false, false
}

// between reports whether one of the ports is the flow's.
func (f Flow) between(ports []byte) (reply, found, over bool) {
	from, to := binary.BigEndian.Uint16(ports), binary.BigEndian.Uint16(ports[2:])
	found = from == f.Port || to == f.Port
	return found && to != f.Port, found, found
}

// sound reports whether the checksum of an IPv4 header is right (RFC 791).
func sound(header []byte) bool {
	var sum uint32
	for at := 0; at < len(header); at += 2 {
		sum += uint32(binary.BigEndian.Uint16(header[at:]))
	}
	return uint16(sum)+uint16(sum>>16) == 0xffff
}

// Stop ends the watch and returns what was seen, the earliest first.
func (w *Watch) Stop() ([]Sighting, error) {
	w.over.Store(true)
	w.wait.Wait()
	all := []Sighting{}
	names := map[*Namespace]map[int]string{}
	for s, at := range w.seen {
		if names[s.in] == nil {
			known, err := s.in.deviceNames()
			w.errs, names[s.in] = append(w.errs, err), known
		}
		all = append(all, Sighting{Namespace: s.in.Name, Device: names[s.in][s.index], Out: s.out, Reply: s.reply, Time: at})
	}
	slices.SortFunc(all, func(a, b Sighting) int { return int(a.Time - b.Time) })
	return all, errors.Join(w.errs...)
}
