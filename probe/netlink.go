package probe

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"

	"golang.org/x/sys/unix"
)

// dumpAttempts bounds how often a table that changed during its dump is asked
// for again.
const dumpAttempts = 10

var errInterrupted = errors.New("the table kept changing while it was read: try again")

// dump asks the kernel for a table of the view's network namespace and gives
// its messages as they came, headers included. Probes only read by netlink;
// what changes a namespace is lab's. Source: netlink(7).
//
// mdlayher/netlink takes twice the time and twenty times the allocations, and removes the message
// that ends a dump, which may be the only one that says that the table changed.
func (v *view) dump(protocol int, kind uint16, body []byte) ([]byte, error) {
	for range dumpAttempts {
		answer, err := v.exchange(protocol, kind, unix.NLM_F_DUMP, body)
		if !errors.Is(err, errInterrupted) {
			return answer, err
		}
	}
	return nil, errInterrupted
}

// exchange sends one request and reads until the kernel reports the end.
func (v *view) exchange(protocol int, kind, flags uint16, body []byte) ([]byte, error) {
	fd, err := v.open(source{family: unix.AF_NETLINK, protocol: protocol})
	if err != nil {
		return nil, fmt.Errorf("open netlink: %w", err)
	}
	v.sequence++
	request := binary.NativeEndian.AppendUint32(nil, uint32(unix.NLMSG_HDRLEN+len(body)))
	request = binary.NativeEndian.AppendUint16(request, kind)
	request = binary.NativeEndian.AppendUint16(request, unix.NLM_F_REQUEST|flags)
	request = binary.NativeEndian.AppendUint32(request, v.sequence)
	request = binary.NativeEndian.AppendUint32(request, 0)
	request = append(request, body...)
	if err := unix.Sendto(fd, request, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return nil, fmt.Errorf("ask by netlink: %w", err)
	}
	var answer []byte
	var interrupted error
	for {
		n, _, err := unix.Recvfrom(fd, v.buffer(), 0)
		if err != nil {
			return nil, fmt.Errorf("receive from netlink: %w", err)
		}
		answer = append(answer, v.room[:n]...)
		done, err := finished(v.room[:n], v.sequence, flags)
		if errors.Is(err, errInterrupted) {
			interrupted = err // the rest still comes
		} else if err != nil {
			return nil, err
		}
		if done {
			return answer, interrupted
		}
	}
}

// finished reports whether a datagram ends the answer to a request, and why there
// is none.
func finished(datagram []byte, sequence uint32, flags uint16) (done bool, err error) {
	for m := range messages(datagram) {
		if m.sequence != sequence {
			continue // what was left of an earlier one
		}
		if m.flags&unix.NLM_F_DUMP_INTR != 0 {
			err = errInterrupted
		}
		switch {
		case m.kind == unix.NLMSG_DONE || m.kind == unix.NLMSG_ERROR:
			if code := int32(number32(m.body)); code < 0 {
				return true, fmt.Errorf("ask by netlink: %w", unix.Errno(-code))
			}
			return true, err
		case flags&unix.NLM_F_DUMP == 0:
			return true, err
		}
	}
	return false, err
}

// message is one netlink message.
type message struct {
	kind, flags uint16
	sequence    uint32
	body        []byte
}

// messages walks over what the kernel sent. It ends where the bytes make no
// message.
func messages(data []byte) iter.Seq[message] {
	return func(yield func(message) bool) {
		for len(data) >= unix.NLMSG_HDRLEN {
			size := int(binary.NativeEndian.Uint32(data))
			if size < unix.NLMSG_HDRLEN || size > len(data) {
				return
			}
			m := message{
				kind: binary.NativeEndian.Uint16(data[4:]), flags: binary.NativeEndian.Uint16(data[6:]),
				sequence: binary.NativeEndian.Uint32(data[8:]), body: data[unix.NLMSG_HDRLEN:size],
			}
			if !yield(m) {
				return
			}
			data = data[min(aligned(size), len(data)):]
		}
	}
}

// attributes walks over the attributes that follow a message's own header of
// so many bytes, by number.
func attributes(body []byte, header int) iter.Seq2[uint16, []byte] {
	return func(yield func(uint16, []byte) bool) {
		const flags = unix.NLA_F_NESTED | unix.NLA_F_NET_BYTEORDER
		data := body[min(header, len(body)):]
		for len(data) >= unix.SizeofNlAttr {
			size := int(binary.NativeEndian.Uint16(data))
			if size < unix.SizeofNlAttr || size > len(data) {
				return
			}
			if !yield(binary.NativeEndian.Uint16(data[2:])&^flags, data[unix.SizeofNlAttr:size]) {
				return
			}
			data = data[min(aligned(size), len(data)):]
		}
	}
}

// aligned is a size as netlink pads it: to whole words of four bytes.
func aligned(size int) int { return (size + 3) &^ 3 }

// attribute makes one attribute.
func attribute(kind uint16, value []byte) []byte {
	data := binary.NativeEndian.AppendUint16(nil, uint16(unix.SizeofNlAttr+len(value)))
	data = binary.NativeEndian.AppendUint16(data, kind)
	data = append(data, value...)
	return append(data, make([]byte, aligned(len(data))-len(data))...)
}

// word reads a string that ends with a zero.
func word(value []byte) string {
	text, _, _ := bytes.Cut(value, []byte{0})
	return string(text)
}

// number32 reads a number of the machine's byte order; 0 where it is cut.
func number32(value []byte) uint32 {
	if len(value) < 4 {
		return 0
	}
	return binary.NativeEndian.Uint32(value)
}

// number64 reads a number of the machine's byte order; 0 where it is cut.
func number64(value []byte) uint64 {
	if len(value) < 8 {
		return 0
	}
	return binary.NativeEndian.Uint64(value)
}

// big64 reads a number of the network's byte order; 0 where it is cut.
func big64(value []byte) uint64 {
	if len(value) < 8 {
		return 0
	}
	return binary.BigEndian.Uint64(value)
}

// big32 reads a number of the network's byte order; 0 where it is cut.
func big32(value []byte) uint32 {
	if len(value) < 4 {
		return 0
	}
	return binary.BigEndian.Uint32(value)
}
