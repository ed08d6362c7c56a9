package udp

import (
	"bytes"
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"

	"tare/traffic"
)

// deviceCounter reads how many packets the busiest network device received
// between the edges of a window. It reads without allocation.
type deviceCounter struct {
	fd   int
	text [2][]byte // at the edges
	err  error
}

// devicesText is room for the counters of about a thousand devices.
const devicesText = 128 << 10

// openDeviceCounter opens the counters of the calling thread's network
// namespace.
func openDeviceCounter() (*deviceCounter, error) {
	const path = "/proc/thread-self/net/dev"
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return &deviceCounter{fd: fd, text: [2][]byte{traffic.Buffer(devicesText), traffic.Buffer(devicesText)}}, nil
}

func (d *deviceCounter) close() { traffic.CloseSocket(d.fd) }

// edge reads all counters.
func (d *deviceCounter) edge(e traffic.Edge) {
	text := d.text[e][:cap(d.text[e])]
	size := 0
	for size < len(text) {
		n, err := unix.Pread(d.fd, text[size:], int64(size))
		if err != nil {
			d.err = fmt.Errorf("read the devices' counters: %w", err)
			return
		}
		if n == 0 {
			break
		}
		size += n
	}
	d.text[e] = text[:size]
}

// packets is how many the busiest device received.
func (d *deviceCounter) packets() (int64, error) {
	if d.err != nil {
		return 0, d.err
	}
	before := map[string]int64{}
	if err := eachDevice(d.text[traffic.Opening], func(name string, packets int64) { before[name] = packets }); err != nil {
		return 0, err
	}
	var most int64
	err := eachDevice(d.text[traffic.Closing], func(name string, packets int64) { most = max(most, packets-before[name]) })
	return most, err
}

// eachDevice reads the received packets of /proc/net/dev: two lines of titles,
// then a name, a colon and the counters, of which packets are the second
// (net/core/net-procfs.c).
func eachDevice(text []byte, take func(name string, packets int64)) error {
	titles := 2
	for line := range bytes.Lines(text) {
		if titles > 0 {
			titles--
			continue
		}
		name, counters, _ := bytes.Cut(line, []byte{':'})
		fields := bytes.Fields(counters)
		if len(fields) < 2 {
			return fmt.Errorf("read the devices' counters: %q", line)
		}
		packets, err := strconv.ParseUint(string(fields[1]), 10, 63)
		if err != nil {
			return fmt.Errorf("read the devices' counters: %w", err)
		}
		take(string(bytes.TrimSpace(name)), int64(packets))
	}
	return nil
}
