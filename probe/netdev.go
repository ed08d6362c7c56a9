package probe

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// NetDevice is what a network device counted since it was made.
type NetDevice struct {
	RxBytes, RxPackets uint64
	RxDrops            uint64 // rx_dropped and rx_missed_errors
	TxBytes, TxPackets uint64
	TxDrops            uint64
}

// NetDevices reads the counters of each device, by name, in the network
// namespace of the calling thread: lock the thread where that matters.
func NetDevices(root string) (map[string]NetDevice, error) {
	path := filepath.Join(root, "proc/thread-self/net/dev")
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	devices, err := parseNetDev(data)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return devices, nil
}

// parseNetDev reads /proc/net/dev: two lines of titles, then a line of a name
// and 16 counters for each device (net/core/net-procfs.c).
func parseNetDev(data []byte) (map[string]NetDevice, error) {
	devices := map[string]NetDevice{}
	titles := 2
	for line := range bytes.Lines(data) {
		if titles > 0 {
			titles--
			continue
		}
		name, device, err := parseDevice(line)
		if err != nil {
			return nil, fmt.Errorf("parse network devices: %w", err)
		}
		devices[name] = device
	}
	if titles > 0 {
		return nil, errors.New("parse network devices: no titles: is this /proc/net/dev?")
	}
	return devices, nil
}

// parseDevice reads "  eth0: 1 2 3 ..."; the name has no colon and no space.
func parseDevice(line []byte) (string, NetDevice, error) {
	const columns = 16
	name, counters, ok := bytes.Cut(bytes.TrimLeft(line, " "), []byte(":"))
	if !ok || len(name) == 0 {
		return "", NetDevice{}, fmt.Errorf("line %q has no device name", line)
	}
	fields := bytes.Fields(counters)
	if len(fields) < columns {
		return "", NetDevice{}, fmt.Errorf("device %q has %d counters, want %d", name, len(fields), columns)
	}
	var values [columns]uint64
	for n := range values {
		value, err := strconv.ParseUint(string(fields[n]), 10, 64)
		if err != nil {
			return "", NetDevice{}, fmt.Errorf("device %q: %w", name, err)
		}
		values[n] = value
	}
	return string(name), NetDevice{
		RxBytes: values[0], RxPackets: values[1], RxDrops: values[3],
		TxBytes: values[8], TxPackets: values[9], TxDrops: values[11],
	}, nil
}
