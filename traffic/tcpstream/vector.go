package tcpstream

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"tare/traffic"
)

// payloadBytes is the period after which a payload repeats: beyond the reach of what
// compresses on a path (deflate looks 32 KiB back, LZ4 64), and small enough to
// stay in a CPU's cache.
const payloadBytes = 128 << 10

// vector makes one call of many bytes use the same memory again and again, so
// that it finds it as warm as a call of few bytes does.
type vector struct {
	memory []byte
	parts  []unix.Iovec
	header unix.Msghdr
	last   int // the part that may be short
}

// newVector is for calls of up to most bytes over the memory.
func newVector(memory []byte, most int) *vector {
	v := &vector{memory: memory, parts: make([]unix.Iovec, (most+len(memory)-1)/len(memory))}
	for i := range v.parts {
		v.parts[i].Base = unsafe.SliceData(memory)
		v.parts[i].SetLen(len(memory))
	}
	v.header.Iov = &v.parts[0]
	v.use(most)
	return v
}

// use sets how many bytes the next call is for.
func (v *vector) use(n int) {
	v.parts[v.last].SetLen(len(v.memory))
	v.last = (n - 1) / len(v.memory)
	v.parts[v.last].SetLen(n - v.last*len(v.memory))
	v.header.SetIovlen(v.last + 1)
}

// send writes once; it may write less.
func (v *vector) send(fd, flags int) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(unix.SYS_SENDMSG, uintptr(fd), uintptr(unsafe.Pointer(&v.header)), uintptr(flags|unix.MSG_NOSIGNAL), 0, 0, 0)
	return traffic.Result(n, errno)
}

// receive reads once.
func (v *vector) receive(fd, flags int) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(unix.SYS_RECVMSG, uintptr(fd), uintptr(unsafe.Pointer(&v.header)), uintptr(flags), 0, 0, 0)
	return traffic.Result(n, errno)
}
