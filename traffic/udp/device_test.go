package udp

import (
	"maps"
	"testing"

	"tare/test/traffictest"
	"tare/traffic"
)

const devices = `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:  100       7    0    0    0     0          0         0      100       7    0    0    0     0       0          0
vlan@1:2048576 %    0    0    0     0          0         0 2048576    9000    0    0    0     0       0          0
`

func TestDevicePackets(t *testing.T) {
	read := func(packets string) []byte {
		text := []byte(devices)
		for i := range text {
			if text[i] == '%' {
				return append(append(append([]byte{}, text[:i]...), packets...), text[i+1:]...)
			}
		}
		return text
	}
	got := map[string]int64{}
	traffictest.Try(t, eachDevice(read("4321"), func(name string, n int64) { got[name] = n }))
	if !maps.Equal(got, map[string]int64{"lo": 7, "vlan@1": 4321}) {
		t.Errorf("read %v", got)
	}
	d := &deviceCounter{text: [2][]byte{read("4321"), read("9321")}}
	if n, err := d.packets(); err != nil || n != 5000 {
		t.Errorf("%d packets of the busiest device, %v", n, err)
	}
	d.text[traffic.Closing] = read("many")
	if _, err := d.packets(); err == nil {
		t.Error("a counter that is no number was read")
	}
}

func FuzzEachDevice(f *testing.F) {
	f.Add([]byte(devices))
	f.Fuzz(func(t *testing.T, text []byte) {
		err := eachDevice(text, func(name string, n int64) {
			if n < 0 {
				t.Errorf("%s: %d packets", name, n)
			}
		})
		if err != nil && len(text) == 0 {
			t.Errorf("no text, no devices: %v", err)
		}
	})
}
