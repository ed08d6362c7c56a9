package traffic

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// source is the payload of all flows of a sender.
type source struct {
	memory []byte
	mapped int // bytes of memory that are mapped, and not of the heap
	file   int // that holds the memory; -1 where it is sent by itself
}

// payloadBytes is after how much a payload repeats: beyond the reach of what
// compresses on a path (deflate looks 32 KiB back, LZ4 64), and small enough to
// stay in a CPU's cache.
const payloadBytes = 128 << 10

// repeated maps one payload again and again, so that a large write reads
// memory as warm as a small one does.
func repeated(size int) (*source, error) {
	file, err := unix.MemfdCreate("tare payload", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make file in memory: %w", err)
	}
	o := &source{file: -1}
	_, err = unix.Write(file, randomBytes(payloadBytes))
	if err == nil {
		o.mapped = (size + payloadBytes - 1) / payloadBytes * payloadBytes
		o.memory, err = unix.Mmap(-1, 0, o.mapped, unix.PROT_READ, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	}
	for at := 0; err == nil && at < len(o.memory); at += payloadBytes {
		_, err = unix.MmapPtr(file, 0, unsafe.Pointer(&o.memory[at]), payloadBytes, unix.PROT_READ, unix.MAP_SHARED|unix.MAP_FIXED|unix.MAP_POPULATE)
	}
	if err = errors.Join(err, unix.Close(file)); err != nil {
		return nil, errors.Join(fmt.Errorf("map payload: %w", err), o.close())
	}
	return o, nil
}

// openSource makes the payload of the largest write.
func openSource(s TCPStream) (*source, error) {
	size := s.blockBytes()
	if s.Mode == StreamAuto {
		size = tunedSizes[len(tunedSizes)-1]
	}
	if size > payloadBytes && s.Mode != StreamSendfile {
		return repeated(size)
	}
	o := &source{memory: randomBytes(size), file: -1}
	if s.Mode != StreamSendfile {
		return o, nil
	}
	file, err := unix.MemfdCreate("tare payload", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make file in memory: %w", err)
	}
	o.file = file
	for rest := o.memory; len(rest) > 0; {
		n, err := unix.Write(file, rest)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("fill file in memory: %w", err), o.close())
		}
		rest = rest[n:]
	}
	return o, nil
}

func (o *source) close() error {
	var err error
	if o.mapped > 0 && o.memory != nil {
		err = unix.Munmap(o.memory)
	}
	if o.file >= 0 {
		err = errors.Join(err, unix.Close(o.file))
	}
	return err
}

// writer is one flow's access to the payload.
type writer struct {
	*source
	offset int64 // where sendfile begins, and then where it ended
}

func (o *source) writer() *writer { return &writer{source: o} }

// write writes n bytes once; it may write less. It blocks no longer than a
// tick.
func (w *writer) write(fd, n int) (int, syscall.Errno) {
	if w.file < 0 {
		return send(fd, w.memory[:n], 0)
	}
	w.offset = 0
	return blocking(unix.SYS_SENDFILE, uintptr(fd), uintptr(w.file), uintptr(unsafe.Pointer(&w.offset)), uintptr(n), 0, 0)
}

// randomBytes makes a payload that no device on the way can compress.
func randomBytes(n int) []byte {
	p := make([]byte, n)
	generator := rand.NewChaCha8([32]byte{})
	_, _ = generator.Read(p) // never fails
	return p
}
