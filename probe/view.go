package probe

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// view is how probes see the kernel: files below a root, and sockets. What it
// has opened belongs to the namespaces of the thread that opened it and stays
// theirs on any other; one that is sealed opens nothing more.
type view struct {
	root   string
	sealed bool
	opened map[source]opened

	room     []byte // for the file or the datagram that was read last
	dumped   []byte // the devices; nil: not asked for yet
	queued   []byte // their queueing disciplines; likewise
	sequence uint32 // of the last netlink request
}

// source is a file, or a socket of a family and a protocol.
type source struct {
	path             string
	family, protocol int
}

// opened is a descriptor, or why there is none.
type opened struct {
	fd  int
	err error
}

var errSealed = errors.New("it was not there when the reading began")

func newView(root string) *view { return &view{root: root, opened: map[source]opened{}} }

// open gives the descriptor of a source.
func (v *view) open(s source) (int, error) {
	if o, known := v.opened[s]; known {
		return o.fd, o.err
	}
	if v.sealed {
		return -1, errSealed
	}
	var o opened
	if s.path == "" {
		o.fd, o.err = unix.Socket(s.family, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, s.protocol)
	} else if o.fd, o.err = unix.Open(s.path, unix.O_RDONLY|unix.O_CLOEXEC, 0); o.err != nil {
		o.err = &fs.PathError{Op: "open", Path: s.path, Err: o.err}
	}
	v.opened[s] = o
	return o.fd, o.err
}

// forget closes a file that is no longer there.
func (v *view) forget(path string) {
	s := source{path: filepath.Join(v.root, path)}
	if o, known := v.opened[s]; known && o.err == nil {
		unix.Close(o.fd) //nolint:errcheck // it was only read
	}
	delete(v.opened, s)
}

// close closes all that was opened.
func (v *view) close() error {
	var errs []error
	for s, o := range v.opened {
		if o.err == nil {
			errs = append(errs, unix.Close(o.fd))
		}
		delete(v.opened, s)
	}
	return errors.Join(errs...)
}

// firstRoom is the most that the kernel puts in one datagram of a dump, and
// more than most files of counters have.
const firstRoom = 32 << 10

// buffer is the view's room, made once: a read that allocates little keeps the
// collector away from what is measured next.
func (v *view) buffer() []byte {
	if v.room == nil {
		v.room = make([]byte, firstRoom)
	}
	return v.room
}

// read reads a file below the root from its beginning. What it gives is
// overwritten by the next.
func (v *view) read(path string) ([]byte, error) {
	path = filepath.Join(v.root, path)
	fd, err := v.open(source{path: path})
	if err != nil {
		return nil, err
	}
	text := v.buffer()
	for size := 0; ; {
		n, err := unix.Pread(fd, text[size:], int64(size))
		if err != nil {
			return nil, &fs.PathError{Op: "read", Path: path, Err: err}
		}
		if n == 0 {
			return text[:size], nil
		}
		if size += n; size == len(text) {
			text = append(text, make([]byte, size)...)
			v.room = text
		}
	}
}

// links asks for the devices of the namespace (RTM_GETLINK), once in a round of
// reading.
func (v *view) links() (dumped []byte, err error) {
	if v.dumped == nil {
		v.dumped, err = v.dump(unix.NETLINK_ROUTE, unix.RTM_GETLINK, make([]byte, unix.SizeofIfInfomsg))
	}
	if err != nil {
		return nil, fmt.Errorf("list devices: %w", err)
	}
	return v.dumped, nil
}

// queues asks for the queueing disciplines of the namespace (RTM_GETQDISC), once in a
// round of reading.
func (v *view) queues() (dumped []byte, err error) {
	if v.queued == nil {
		v.queued, err = v.dump(unix.NETLINK_ROUTE, unix.RTM_GETQDISC, make([]byte, tcmsgSize))
	}
	return v.queued, err
}

// names are those of the devices, by index.
func (v *view) names() (map[uint32]string, error) {
	dumped, err := v.links()
	if err != nil {
		return nil, err
	}
	names := map[uint32]string{}
	for m := range messages(dumped) {
		if m.kind == unix.RTM_NEWLINK && len(m.body) >= unix.SizeofIfInfomsg {
			for kind, value := range attributes(m.body, unix.SizeofIfInfomsg) {
				if kind == unix.IFLA_IFNAME {
					names[number32(m.body[4:])] = word(value)
				}
			}
		}
	}
	return names, nil
}

// parsed is a reading of a file below the root by its parser.
func parsed[T any](path string, parse func([]byte) (T, error)) func(*view) (T, error) {
	return parsedFrom(func(v *view) ([]byte, error) { return v.read(path) }, parse)
}

// parsedFrom is a reading of what a source gives, by its parser.
func parsedFrom[T any](read func(*view) ([]byte, error), parse func([]byte) (T, error)) func(*view) (T, error) {
	return func(v *view) (T, error) {
		data, err := read(v)
		if err != nil {
			var none T
			return none, err
		}
		return parse(data)
	}
}
