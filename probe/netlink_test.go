package probe

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// netlink gives a captured answer: a namespace with a veth pair eth0 and
// veth-c1, the latter in br0 with vxlan0; eth0 sent 400 datagrams through a tbf
// that dropped most.
func netlink(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(vm, "netlink", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// namesOf are the devices of the capture.
func namesOf(t testing.TB) map[uint32]string {
	t.Helper()
	names, err := (&view{dumped: netlink(t, "links")}).names()
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// has compares some of what was read.
func has[V comparable](t *testing.T, got map[string]V, want map[string]V) {
	t.Helper()
	for name, value := range want {
		if read, there := got[name]; !there || read != value {
			t.Errorf("%s is %v (there: %t), want %v", name, read, there, value)
		}
	}
}

func TestFinishedReportsWhyThereIsNoAnswer(t *testing.T) {
	refused := attributeless(unix.NLMSG_ERROR, 0, []byte{0xff, 0xff, 0xff, 0xff}) // -EPERM
	if _, err := finished(refused, 0, unix.NLM_F_DUMP); err == nil || reason(err) != "this user may not read it: run as root" {
		t.Errorf("a refusal: %v", err)
	}
	changed := attributeless(unix.RTM_NEWLINK, unix.NLM_F_DUMP_INTR, nil)
	if _, err := finished(changed, 0, unix.NLM_F_DUMP); err != errInterrupted {
		t.Errorf("a table that changed: %v", err)
	}
	if done, err := finished(attributeless(unix.RTM_NEWLINK, 0, nil), 0, unix.NLM_F_DUMP); done || err != nil {
		t.Errorf("one of several: %t, %v", done, err)
	}
	if done, err := finished(attributeless(unix.NLMSG_DONE, 0, nil), 0, unix.NLM_F_DUMP); !done || err != nil {
		t.Errorf("the last: %t, %v", done, err)
	}
}

// attributeless makes a message.
func attributeless(kind, flags uint16, body []byte) []byte {
	header := make([]byte, unix.NLMSG_HDRLEN)
	header[0] = byte(len(header) + len(body))
	header[4], header[5] = byte(kind), byte(kind>>8)
	header[6], header[7] = byte(flags), byte(flags>>8)
	return append(header, body...)
}

// FuzzMessages walks over whatever comes, and never past it.
func FuzzMessages(f *testing.F) {
	f.Add(netlink(f, "links"))
	f.Add([]byte{20, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 1, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		walked := 0
		for m := range messages(data) {
			walked += unix.NLMSG_HDRLEN + len(m.body)
			inner := 0
			for _, value := range attributes(m.body, 4) {
				inner += unix.SizeofNlAttr + len(value)
			}
			if inner > len(m.body) {
				t.Fatalf("%d bytes of attributes in %d", inner, len(m.body))
			}
		}
		if walked > len(data) {
			t.Fatalf("%d bytes of messages in %d", walked, len(data))
		}
	})
}

func TestParseLinks(t *testing.T) {
	got, err := parseLinks(netlink(t, "links"))
	if err != nil {
		t.Fatal(err)
	}
	has(t, got, map[string]any{
		"eth0.kind": "veth", "eth0.mtu": uint32(1500), "eth0.qdisc": "tbf", "eth0.up": true, "eth0.running": true,
		"veth-c1.master": "br0", "vxlan0.master": "br0", "vxlan0.kind": "vxlan", "vxlan0.mtu": uint32(1450), "br0.kind": "bridge",
		"lo.mtu": uint32(65536),
	})
	if _, has := got["eth0.master"]; has {
		t.Error("eth0 is no port of a bridge")
	}
	if got, err := parseLinks(nil); err == nil {
		t.Errorf("nothing gave %v", got)
	}
}

func TestParseLinkStats(t *testing.T) {
	got, err := parseLinkStats(netlink(t, "links"))
	if err != nil {
		t.Fatal(err)
	}
	has(t, got, map[string]float64{"eth0.tx_packets": 65, "eth0.tx_bytes": 47772, "eth0.rx_packets": 10, "eth0.rx_bytes": 844})
	if got, err := parseLinkStats(nil); err == nil {
		t.Errorf("nothing gave %v", got)
	}
}

func FuzzParseLinks(f *testing.F) {
	f.Add(netlink(f, "links"))
	f.Fuzz(func(t *testing.T, data []byte) {
		values, err := parseLinks(data)
		_, errStats := parseLinkStats(data)
		if (err == nil) != (errStats == nil) || err == nil && len(values) == 0 {
			t.Fatalf("devices: %v; their counters: %v", err, errStats)
		}
	})
}

func TestParseQdiscs(t *testing.T) {
	got := parseQdiscs(netlink(t, "qdiscs"), namesOf(t))
	want := map[string]float64{
		"eth0.tbf.bytes": 47772, "eth0.tbf.packets": 65, "eth0.tbf.dropped": 259, "eth0.tbf.overlimits": 400, "eth0.tbf.requeues": 0,
	}
	if !maps.Equal(got, want) { // the others have no queue
		t.Errorf("%v, want %v", got, want)
	}
}

func FuzzParseQdiscs(f *testing.F) {
	f.Add(netlink(f, "qdiscs"))
	names := map[uint32]string{1: "lo", 2: "eth0", 3: "veth-c1"}
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, unnamed := parseQdiscs(data, names)[""]; unnamed {
			t.Fatal("a counter without a name")
		}
	})
}

func TestParseNeighbours(t *testing.T) {
	names := namesOf(t)
	values := func(dumped []byte) map[string]any {
		all, err := parseNeighbours(dumped, names)
		if err != nil {
			t.Fatal(err)
		}
		return neighbourValues(all)
	}
	has(t, values(netlink(t, "neighbours")), map[string]any{"10.0.0.2 dev eth0": "02:00:00:00:00:02 permanent", "10.0.0.77 dev eth0": "incomplete"})
	has(t, values(netlink(t, "fdb")), map[string]any{
		"02:00:00:00:00:09 dev vxlan0": "10.0.0.9 permanent", "00:00:00:00:00:00 dev vxlan0": "10.0.0.2 permanent",
	})
	has(t, values(append(netlink(t, "fdb"), netlink(t, "fdb")...)), map[string]any{"02:00:00:00:00:09 dev vxlan0": "10.0.0.9 permanent, 10.0.0.9 permanent"})
}

func TestNeighbourText(t *testing.T) {
	n := Neighbour{Address: "10.0.0.9", MAC: "02:00:00:00:00:09", Device: "vxlan0", State: "permanent"}
	if got := n.String(); got != "10.0.0.9 dev vxlan0 lladdr 02:00:00:00:00:09 permanent" {
		t.Errorf("neighbour %q", got)
	}
	if got := FDBEntry(n).String(); got != "02:00:00:00:00:09 dev vxlan0 dst 10.0.0.9 permanent" {
		t.Errorf("entry %q", got)
	}
	if got := (FDBEntry{MAC: n.MAC, Device: "veth-c1", State: "reachable"}).String(); got != "02:00:00:00:00:09 dev veth-c1 reachable" {
		t.Errorf("entry without an endpoint %q", got)
	}
}

func FuzzParseNeighbours(f *testing.F) {
	f.Add(netlink(f, "neighbours"))
	f.Add(netlink(f, "fdb"))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := parseNeighbours(data, nil)
		if err == nil && (all == nil || len(neighbourValues(all)) > len(all)) {
			t.Fatal("no table")
		}
	})
}

func TestParseFeatures(t *testing.T) {
	got := parseFeatures(netlink(t, "features"), wantedFeatures())
	has(t, got, map[string]any{
		"eth0.tx-tcp-segmentation": true, "eth0.rx-gro": false, "eth0.rx-lro": false, "eth0.tx-udp_tnl-segmentation": true,
		"vxlan0.tx-udp_tnl-segmentation": false, "lo.rx-gro": true,
	})
}

func FuzzParseFeatures(f *testing.F) {
	f.Add(netlink(f, "features"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for name, value := range parseFeatures(data, []string{"rx-gro"}) {
			if _, is := value.(bool); !is || name == ".rx-gro" {
				t.Fatalf("%q is %v", name, value)
			}
		}
	})
}

func TestParseDriver(t *testing.T) {
	got := map[string]float64{}
	if err := parseDriver(got, "eth0", netlink(t, "driver_names"), netlink(t, "driver_numbers")); err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got["eth0.peer_ifindex"] == 0 { // a veth counts what XDP did, which is nothing
		t.Errorf("a veth's counters: %v", got)
	}
	if err := parseDriver(got, "eth0", make([]byte, 64), make([]byte, 8)); err == nil {
		t.Errorf("two names and one number gave %v", got)
	}
}

func FuzzParseDriver(f *testing.F) {
	f.Add(netlink(f, "driver_names"), netlink(f, "driver_numbers"))
	f.Fuzz(func(t *testing.T, words, numbers []byte) {
		counters := map[string]float64{}
		err := parseDriver(counters, "eth0", words, numbers)
		if err == nil && len(counters) > len(numbers)/8 {
			t.Fatalf("%d counters of %d numbers", len(counters), len(numbers)/8)
		}
	})
}
