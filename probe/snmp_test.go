package probe

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// protocolCounters collects every counter, zeros included.
func protocolCounters(data []byte) (map[string]int64, error) {
	counters := map[string]int64{}
	err := eachProtocol(data, func(group, name []byte, value int64) {
		counters[string(group)+"."+string(name)] = value
	})
	return counters, err
}

func TestProtocolCounters(t *testing.T) {
	for text, want := range map[string]map[string]int64{
		"":                              {},
		"Udp: A B\nUdp: 1 2\n":          {"Udp.A": 1, "Udp.B": 2},
		"Udp:\nUdp:\n":                  {},
		"Tcp: MaxConn\nTcp: -1\n":       {"Tcp.MaxConn": -1},
		"I: A\nI: 1\nI: B\nI: 2\n":      {"I.A": 1, "I.B": 2}, // IcmpMsg, 16 to a line
		"T: G\nT: 18446744073709551615": {"T.G": -1},
	} {
		if got, err := protocolCounters([]byte(text)); err != nil || !maps.Equal(got, want) {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{
		"Udp: A\n", "Udp: A\nTcp: 1\n", "Udp: A B\nUdp: 1\n", "Udp: A\nUdp: 1 2\n", "Udp: A\nUdp: x\n",
		"\n", "Udp A\nUdp 1\n", ": A\n: 1\n", "Udp: A\nUdp: 18446744073709551616\n",
	} {
		if got, err := protocolCounters([]byte(text)); err == nil {
			t.Errorf("%q gave %v", text, got)
		}
	}
}

// TestCapturedProtocols holds the counters that the first users want.
func TestCapturedProtocols(t *testing.T) {
	got := map[string]int64{}
	for _, name := range []string{"snmp", "netstat"} {
		data, err := os.ReadFile(filepath.Join(vm, "proc/thread-self/net", name))
		if err != nil {
			t.Fatal(err)
		}
		part, err := protocolCounters(data)
		if err != nil {
			t.Fatal(err)
		}
		maps.Copy(got, part)
	}
	for name, want := range map[string]int64{
		"Udp.InDatagrams": 91, "Udp.RcvbufErrors": 0, "Udp.SndbufErrors": 0,
		"Ip.FragCreates": 0, "Ip.ReasmReqds": 0, "TcpExt.ListenOverflows": 0, "TcpExt.TCPBacklogCoalesce": 63,
	} {
		if value, ok := got[name]; !ok || value != want {
			t.Errorf("%s: %v, %v, want %v", name, value, ok, want)
		}
	}
}

func FuzzProtocolCounters(f *testing.F) {
	captured(f, "proc/thread-self/net/snmp")
	captured(f, "proc/thread-self/net/netstat")
	f.Add([]byte("Tcp: A\nTcp: -1\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		counters, err := protocolCounters(data)
		if err != nil {
			return
		}
		for name := range counters {
			if group, _, ok := strings.Cut(name, "."); !ok || group == "" {
				t.Fatalf("counter %q", name)
			}
		}
	})
}
