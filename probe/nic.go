package probe

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"golang.org/x/sys/unix"
)

// NIC is what the driver of a device says of it. A driver need not say anything.
type NIC struct {
	Driver string  `json:"driver,omitempty"`
	Rate   float64 `json:"rate,omitempty"`   // bit/s of the link; 0: not known, or there is no link
	Queues int     `json:"queues,omitempty"` // that receive; 0: not known
}

// inspectNIC asks the driver of each device (include/uapi/linux/ethtool.h).
func (v *view) inspectNIC(i *Inventory, _ map[uint32]string) error {
	fd, err := v.open(source{family: unix.AF_INET})
	if err != nil {
		return fmt.Errorf("open ethtool: %w", err)
	}
	for n := range i.Links {
		l := &i.Links[n]
		if l.NIC, err = readNIC(fd, l.Name); err != nil {
			return fmt.Errorf("read driver of %s: %w", l.Name, err)
		}
	}
	return nil
}

func readNIC(fd int, device string) (NIC, error) {
	info, errInfo := askNIC(fd, device, unix.ETHTOOL_GDRVINFO, 196)
	settings, errSettings := askNIC(fd, device, unix.ETHTOOL_GSET, 44)
	channels, errChannels := askNIC(fd, device, unix.ETHTOOL_GCHANNELS, 36)
	nic := NIC{
		Driver: word(info[4:36]), Rate: linkRate(settings),
		Queues: int(number32(channels[20:]) + number32(channels[32:])), // those that only receive, and those of both ways
	}
	if nic.Driver == "veth" || nic.Driver == "tun" {
		nic.Rate = 0 // a constant of the driver, which limits nothing
	}
	return nic, errors.Join(errInfo, errSettings, errChannels)
}

// askNIC has a driver answer a command in so many bytes; zeros: it does not answer that one, or
// the device has just gone.
func askNIC(fd int, device string, command uint32, size int) ([]byte, error) {
	answer := make([]byte, size)
	binary.NativeEndian.PutUint32(answer, command)
	err := askDriver(fd, device, answer)
	if err == nil {
		return answer, nil
	}
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENODEV) {
		err = nil
	}
	return make([]byte, size), err
}

// linkRate reads struct ethtool_cmd, whose speed is two numbers, in Mbit/s. An unknown one has
// all bits set, of either or of both.
func linkRate(settings []byte) float64 {
	low, high := binary.NativeEndian.Uint16(settings[12:]), binary.NativeEndian.Uint16(settings[28:])
	if low == math.MaxUint16 && (high == 0 || high == math.MaxUint16) {
		return 0
	}
	return 1e6 * float64(uint32(high)<<16|uint32(low))
}
