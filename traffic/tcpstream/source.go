package tcpstream

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"tare/traffic"
)

// source is the payload of all flows of a sender.
type source struct {
	memory []byte
	size   int // of the largest write
	file   int // that holds the memory; -1 where it is sent by itself
}

// openSource makes the payload of the largest write.
func openSource(s Options) (*source, error) {
	size := s.blockBytes()
	if s.Mode == Auto {
		size = tunedSizes[len(tunedSizes)-1]
	}
	o := &source{size: size, file: -1}
	if s.Mode != Sendfile {
		o.memory = traffic.RandomPayload(min(size, payloadBytes))
		return o, nil
	}
	o.memory = traffic.RandomPayload(size)
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
	if o.file < 0 {
		return nil
	}
	return unix.Close(o.file)
}

// writer is one flow's access to the payload.
type writer struct {
	source *source
	*vector
	offset int64 // where sendfile begins, and then where it ended
}

func (o *source) writer() *writer {
	return &writer{source: o, vector: newVector(o.memory, o.size)}
}

// write writes n bytes once; it may write less. It blocks no longer than a
// tick. A file knows no flags.
func (w *writer) write(fd, n, flags int) (int, syscall.Errno) {
	if w.source.file < 0 {
		w.use(n)
		return w.send(fd, flags)
	}
	w.offset = 0
	return traffic.Syscall(unix.SYS_SENDFILE, uintptr(fd), uintptr(w.source.file), uintptr(unsafe.Pointer(&w.offset)), uintptr(n), 0, 0)
}
