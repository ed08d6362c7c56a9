package udp

import (
	"encoding/binary"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"tare/traffic"
)

// mmsghdr is struct mmsghdr of sendmmsg(2); Go pads it as C does.
type mmsghdr struct {
	header unix.Msghdr
	length uint32
}

// batch is a set of datagrams that one system call sends or receives.
// Its memory is mapped when it is made; the calls allocate nothing.
type batch struct {
	messages []mmsghdr
	vectors  []unix.Iovec
	memory   []byte
	size     int
	controls []byte // control bytes of each message, or nil
}

// controlBytes is room for the one control message that is asked for: a
// SCM_TIMESTAMPNS of 32 bytes, or a UDP_GRO of 24.
const controlBytes = 32

// newBatch makes n datagrams of size bytes, with control space if wanted.
func newBatch(n, size int, control bool) *batch {
	b := &batch{
		messages: make([]mmsghdr, n),
		vectors:  make([]unix.Iovec, n),
		memory:   traffic.RandomPayload(n * size),
		size:     size,
	}
	if control {
		b.controls = make([]byte, n*controlBytes)
	}
	for i := range n {
		b.vectors[i].Base = &b.memory[i*size]
		b.vectors[i].SetLen(size)
		h := &b.messages[i].header
		h.Iov = &b.vectors[i]
		h.SetIovlen(1)
		if control {
			h.Control = &b.controls[i*controlBytes]
		}
	}
	return b
}

// buffer is the whole memory of datagram i.
func (b *batch) buffer(i int) []byte { return b.memory[i*b.size : (i+1)*b.size] }

// packet is what was received as datagram i.
func (b *batch) packet(i int) []byte {
	return b.memory[i*b.size:][:min(int(b.messages[i].length), b.size)]
}

// send sends the first count datagrams with one call. It gives how many were
// sent; the next one after those failed, and the kernel reports why only if none
// was sent.
func (b *batch) send(fd, count int) (int, syscall.Errno) {
	return traffic.Syscall(unix.SYS_SENDMMSG, uintptr(fd),
		uintptr(unsafe.Pointer(&b.messages[0])), uintptr(count), unix.MSG_NOSIGNAL, 0, 0)
}

// receive takes what is there with one call. With MSG_WAITFORONE it waits for
// the first.
func (b *batch) receive(fd, flags int) (int, syscall.Errno) {
	if b.controls != nil {
		for i := range b.messages {
			b.messages[i].header.SetControllen(controlBytes)
		}
	}
	return traffic.Syscall(unix.SYS_RECVMMSG, uintptr(fd),
		uintptr(unsafe.Pointer(&b.messages[0])), uintptr(len(b.messages)), uintptr(flags), 0, 0)
}

// receiveOne takes one datagram, as datagram 0.
func (b *batch) receiveOne(fd, flags int) (int, syscall.Errno) {
	n, errno := traffic.Receive(fd, b.buffer(0), flags|unix.MSG_TRUNC)
	if errno != 0 {
		return 0, errno
	}
	m := &b.messages[0]
	m.length, m.header.Flags = uint32(min(n, b.size)), 0
	if n > b.size {
		m.header.Flags = unix.MSG_TRUNC
	}
	return 1, 0
}

// truncated reports whether datagram i was longer than its buffer.
func (b *batch) truncated(i int) bool { return b.messages[i].header.Flags&unix.MSG_TRUNC != 0 }

// control gives the data of message i's only control message, if it is of the
// kind asked for and holds size bytes or more.
func (b *batch) control(i int, level, kind int32, size int) ([]byte, bool) {
	if b.controls == nil || uint64(b.messages[i].header.Controllen) < uint64(unix.CmsgLen(size)) {
		return nil, false
	}
	control := b.controls[i*controlBytes:][:controlBytes]
	h := (*unix.Cmsghdr)(unsafe.Pointer(&control[0]))
	return control[unix.CmsgLen(0):], h.Level == level && h.Type == kind
}

// segment is how many bytes each datagram of message i has, of which the
// kernel may have joined several where UDP_GRO is on (Linux 5.0).
func (b *batch) segment(i int) int {
	if size, ok := b.control(i, unix.SOL_UDP, unix.UDP_GRO, 4); ok {
		return int(binary.NativeEndian.Uint32(size))
	}
	return b.size
}

// arrived gives the kernel's receive stamp of datagram i in nanoseconds since
// 1970; false if it has none.
func (b *batch) arrived(i int) (int64, bool) {
	unit := int64(1)
	stamp, ok := b.control(i, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS_NEW, 16)
	if !ok {
		unit = 1000 // see stampArrivals
		stamp, ok = b.control(i, unix.SOL_SOCKET, unix.SO_TIMESTAMP, 16)
	}
	if !ok {
		return 0, false
	}
	return int64(binary.NativeEndian.Uint64(stamp))*1e9 + int64(binary.NativeEndian.Uint64(stamp[8:]))*unit, true
}
