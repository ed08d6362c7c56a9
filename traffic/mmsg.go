package traffic

import (
	"encoding/binary"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
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

// controlBytes is room for one SCM_TIMESTAMPNS message, 32 bytes at most.
const controlBytes = 32

// newBatch makes n datagrams of size bytes, with control space if wanted.
func newBatch(n, size int, control bool) *batch {
	b := &batch{
		messages: make([]mmsghdr, n),
		vectors:  make([]unix.Iovec, n),
		memory:   randomBytes(n * size),
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

// send sends all datagrams with one call. It gives how many were sent; the
// next one after those failed, and the kernel tells why only if none was sent.
func (b *batch) send(fd int) (int, syscall.Errno) {
	return blocking(unix.SYS_SENDMMSG, uintptr(fd),
		uintptr(unsafe.Pointer(&b.messages[0])), uintptr(len(b.messages)), unix.MSG_NOSIGNAL, 0, 0)
}

// receive takes what is there with one call, and waits for the first.
func (b *batch) receive(fd int) (int, syscall.Errno) {
	if b.controls != nil {
		for i := range b.messages {
			b.messages[i].header.SetControllen(controlBytes)
		}
	}
	return blocking(unix.SYS_RECVMMSG, uintptr(fd),
		uintptr(unsafe.Pointer(&b.messages[0])), uintptr(len(b.messages)), unix.MSG_WAITFORONE, 0, 0)
}

// receiveOne takes one datagram, as datagram 0.
func (b *batch) receiveOne(fd int) (int, syscall.Errno) {
	n, errno := recv(fd, b.buffer(0), 0)
	if errno != 0 {
		return 0, errno
	}
	b.messages[0].length = uint32(n)
	return 1, 0
}

// arrived gives the kernel's receive stamp of datagram i in nanoseconds since
// 1970; false if it has none. It is the only control message asked for.
func (b *batch) arrived(i int) (int64, bool) {
	if uint64(b.messages[i].header.Controllen) < uint64(unix.CmsgLen(16)) {
		return 0, false
	}
	control := b.controls[i*controlBytes:]
	h := (*unix.Cmsghdr)(unsafe.Pointer(&control[0]))
	if h.Level != unix.SOL_SOCKET || h.Type != unix.SO_TIMESTAMPNS_NEW {
		return 0, false
	}
	stamp := control[unix.CmsgLen(0):]
	return int64(binary.NativeEndian.Uint64(stamp))*1e9 + int64(binary.NativeEndian.Uint64(stamp[8:])), true
}
