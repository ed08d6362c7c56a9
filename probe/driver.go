package probe

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// driverStats counts what each device's driver does.
func driverStats() Probe {
	return Probe{
		Name: "driver", Doc: "counters of each device's driver", Scope: Namespace, Source: "ethtool -S",
		count: func(v *view) (map[string]float64, error) {
			names, err := v.names()
			if err != nil {
				return nil, err
			}
			return v.readDrivers(names)
		},
	}
}

func (v *view) readDrivers(devices map[uint32]string) (map[string]float64, error) {
	fd, err := v.open(source{family: unix.AF_INET})
	if err != nil {
		return nil, fmt.Errorf("open ethtool: %w", err)
	}
	counters := map[string]float64{}
	for _, device := range devices {
		words, numbers, err := readDriver(fd, device)
		if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENODEV) {
			continue // its driver counts nothing, or it has just gone
		}
		if err != nil {
			return nil, fmt.Errorf("read driver of %s: %w", device, err)
		}
		if err := parseDriver(counters, device, words, numbers); err != nil {
			return nil, err
		}
	}
	return counters, nil
}

const (
	driverWord   = 32      // ETH_GSTRING_LEN
	driverSet    = 1       // ETH_SS_STATS
	mostCounters = 1 << 16 // of one device; a driver of a large adapter has thousands
)

// readDriver asks for the names of a device's counters and for their values
// (include/uapi/linux/ethtool.h).
func readDriver(fd int, device string) (words, numbers []byte, err error) {
	// struct ethtool_sset_info: cmd, reserved, a mask of the sets, their sizes.
	info := binary.NativeEndian.AppendUint32(nil, unix.ETHTOOL_GSSET_INFO)
	info = binary.NativeEndian.AppendUint32(info, 0)
	info = binary.NativeEndian.AppendUint64(info, 1<<driverSet)
	info = binary.NativeEndian.AppendUint32(info, 0)
	if err := askDriver(fd, device, info); err != nil {
		return nil, nil, err
	}
	count := number32(info[16:])
	if binary.NativeEndian.Uint64(info[8:]) == 0 || count == 0 {
		return nil, nil, nil
	}
	if count > mostCounters {
		return nil, nil, fmt.Errorf("%d counters", count)
	}
	// struct ethtool_gstrings and struct ethtool_stats begin with three and two
	// numbers.
	strings := make([]byte, 12+driverWord*count)
	binary.NativeEndian.PutUint32(strings, unix.ETHTOOL_GSTRINGS)
	binary.NativeEndian.PutUint32(strings[4:], driverSet)
	binary.NativeEndian.PutUint32(strings[8:], count)
	stats := make([]byte, 8+8*count)
	binary.NativeEndian.PutUint32(stats, unix.ETHTOOL_GSTATS)
	binary.NativeEndian.PutUint32(stats[4:], count)
	if err := askDriver(fd, device, strings); err != nil {
		return nil, nil, err
	}
	err = askDriver(fd, device, stats)
	return strings[12:], stats[8:], err
}

// askDriver does one ethtool request in place.
func askDriver(fd int, device string, request []byte) error {
	// struct ifreq: the device's name, then a pointer to the request.
	var ifreq struct {
		name [unix.IFNAMSIZ]byte
		data unsafe.Pointer
		_    [16]byte
	}
	copy(ifreq.name[:len(ifreq.name)-1], device)
	ifreq.data = unsafe.Pointer(unsafe.SliceData(request))
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&ifreq)))
	runtime.KeepAlive(request)
	if errno != 0 {
		return errno
	}
	return nil
}

// parseDriver adds the counters of a device by their names and numbers; those
// of one name are one sum, zeros are left out.
func parseDriver(into map[string]float64, device string, words, numbers []byte) error {
	if len(words)/driverWord != len(numbers)/8 {
		return fmt.Errorf("parse driver of %s: %d names and %d numbers", device, len(words)/driverWord, len(numbers)/8)
	}
	for n := range len(words) / driverWord {
		if value := binary.NativeEndian.Uint64(numbers[8*n:]); value != 0 {
			name, _, _ := bytes.Cut(words[n*driverWord:(n+1)*driverWord], []byte{0})
			into[device+"."+string(bytes.TrimSpace(name))] += float64(value)
		}
	}
	return nil
}
