package probe

import (
	"maps"
	"path/filepath"
	"testing"

	"tare/test/labtest"
)

const netDevTitles = `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
`

func TestParseNetDev(t *testing.T) {
	for _, test := range []struct {
		name, lines string
		want        map[string]NetDevice
	}{
		{"none", "", map[string]NetDevice{}},
		{"every column",
			"  eth0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n",
			map[string]NetDevice{"eth0": {RxBytes: 1, RxPackets: 2, RxDrops: 4, TxBytes: 9, TxPackets: 10, TxDrops: 12}}},
		{"a number against the colon, a long name",
			"veth0123456789a:18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
			map[string]NetDevice{"veth0123456789a": {RxBytes: 1<<64 - 1}}},
	} {
		got, err := parseNetDev([]byte(netDevTitles + test.lines))
		if err != nil || !maps.Equal(got, test.want) {
			t.Errorf("%s: %+v, %v, want %+v", test.name, got, err, test.want)
		}
	}
	for _, text := range []string{
		"",
		"one title\n",
		netDevTitles + "eth0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n",
		netDevTitles + "  : 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n",
		netDevTitles + "eth0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n",
		netDevTitles + "eth0: 1 2 3 4 5 6 7 8 -9 10 11 12 13 14 15 16\n",
	} {
		if got, err := parseNetDev([]byte(text)); err == nil {
			t.Errorf("%q gave %+v", text, got)
		}
	}
}

func TestCapturedNetDevices(t *testing.T) {
	got, err := NetDevices(vm)
	if err != nil {
		t.Fatal(err)
	}
	lo := got["lo"]
	labtest.Equal(t, "number of devices", len(got), 4)
	labtest.NotEqual(t, "packets that lo received", lo.RxPackets, 0)
	labtest.Equal(t, "bytes that lo received", lo.RxBytes, lo.TxBytes)
	labtest.NotEqual(t, "bytes that eth0 received", got["eth0"].RxBytes, 0)
	if _, err := NetDevices(filepath.Join(vm, "none")); err == nil {
		t.Error("no file, no error")
	}
}

func FuzzParseNetDev(f *testing.F) {
	captured(f, "proc/thread-self/net/dev")
	f.Add([]byte("\n\nx:1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16"))
	f.Fuzz(func(t *testing.T, data []byte) {
		devices, err := parseNetDev(data)
		if _, unnamed := devices[""]; err == nil && (devices == nil || unnamed) {
			t.Fatalf("%+v", devices)
		}
	})
}
