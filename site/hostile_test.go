package site_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"tare/site"
	"tare/test/labtest"
)

// sendRaw sends a greeting, raw bytes and some descriptors to a keeper at an address and returns
// its reply. A keeper that receives no complete line replies nothing.
func sendRaw(t *testing.T, address, bytes string, descriptors int) string {
	t.Helper()
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: address, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var rights []byte
	if descriptors > 0 {
		fds := make([]int, descriptors)
		null, err := os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		defer null.Close()
		for n := range fds {
			fds[n] = int(null.Fd())
		}
		rights = unix.UnixRights(fds...)
	}
	if len(bytes) == 0 {
		return ""
	}
	if _, _, err := conn.WriteMsgUnix([]byte(site.KeeperGreeting+bytes), rights, nil); err != nil {
		t.Fatal(err)
	}
	if err := conn.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	answer, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil && answer != "" {
		t.Errorf("half an answer to %.40q: %q, %v", bytes, answer, err)
	}
	return answer
}

func survivesHostileRequests(t *testing.T, l *site.Lab) {
	run(t, l, "veth.h1/c1", "", "exit") // mounts are made at first use
	idle(t, l)
	before := descriptors(t, l)
	for _, c := range []struct {
		bytes       string
		descriptors int
		want        string
	}{
		{"", 0, ""},
		{"{", 0, "EOF"},
		{"{\n", 0, "JSON"},
		{"\n", 0, "JSON"},
		{"\x00\xff\x80\n", 0, "invalid"},
		{strings.Repeat("[", 1<<16) + "\n", 0, "depth"},
		{strings.Repeat("a", 1<<17), 0, "EOF"},
		{"null\n", 0, `request \"\": unknown to this keeper`},
		{"[]\n", 0, "cannot unmarshal"},
		{`{"do":7}` + "\n", 0, "cannot unmarshal"},
		{`{"do":"format disk"}` + "\n", 0, "unknown to this keeper"},
		{`{"do":"build"}` + "\n", 0, "no spec"},
		{`{"do":"look","at":"nowhere"}` + "\n", 3, "no such host"},
		{`{"do":"start","at":"veth.h1","argv":["true"]}` + "\n", 0, "three descriptors"},
		{`{"do":"start","at":"veth.h1","argv":["true"]}` + "\n", 2, "three descriptors"},
		{`{"do":"start","at":"veth.h1","argv":["true"]}` + "\n", 100, "three descriptors"},
		{`{"do":"start","at":"veth.h1","argv":[]}` + "\n", 3, "a command"},
		{`{"do":"start","at":"veth.h1","argv":[""]}` + "\n", 3, "start"},
		{`{"do":"start","at":"veth.h1","argv":["true"],"dir":"/no/such"}` + "\n", 3, "start true"},
		{`{"do":"start","at":"veth.h1","argv":["a\u0000b"]}` + "\n", 3, "start"},
		{`{"do":"start","at":"veth.h1","argv":["true"]}` + "\n" + `{"signal":9999}` + "\n" + `nonsense`, 3, "started"},
	} {
		if got := sendRaw(t, l.Address(), c.bytes, c.descriptors); !strings.Contains(got, c.want) {
			t.Errorf("%.60q with %d descriptors is answered %q, want %q", c.bytes, c.descriptors, got, c.want)
		}
	}
	if got, status := run(t, l, "veth.h1/c1", "", "echo alive"); got != "alive\n" || status != 0 {
		t.Errorf("after it the lab prints %q, status %d", got, status)
	}
	labtest.Await(t, "the keeper holds what it held before", func() bool { return descriptors(t, l) <= before })
}

// descriptors counts what the keeper holds open.
func descriptors(t *testing.T, l *site.Lab) int {
	t.Helper()
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", l.KeeperPID()))
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// idle waits until the keeper has seen all that spoke to it go: no socket with its address
// is connected (state 03) any more (proc(5), net/unix).
func idle(t *testing.T, l *site.Lab) {
	t.Helper()
	labtest.Await(t, "the keeper speaks to nobody", func() bool {
		text, err := os.ReadFile("/proc/net/unix")
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if fields := strings.Fields(line); fields[len(fields)-1] == l.Address() && fields[5] == "03" {
				return false
			}
		}
		return true
	})
}

// A cluster that can't be built has its reason in the topology, a spec that can't in an error,
// and the keeper lives on.
func TestLabUserSurvivesHostileSpecs(t *testing.T) {
	l := start(t)
	if got := sendRaw(t, l.Address(), `{"do":"build","spec":{"cpus":{"h1":"all"}}}`+"\n", 0); !strings.Contains(got, "read CPU list") {
		t.Errorf("a CPU list that is none: %q", got)
	}
	hostile := []struct{ cluster, want string }{
		{`{"name":"no-host","network":"host","nic":"full","mtu":1500,"hosts":0}`, "use 1 to"},
		{`{"name":"less-than-none","network":"bridge","nic":"full","mtu":1500,"hosts":-5,"containers":-5}`, "use 1 to"},
		{`{"name":"too-many","network":"bridge","nic":"full","mtu":1500,"hosts":1000000000}`, "use 1 to"},
		{`{"name":"unknown-network","network":"token-ring","nic":"full","mtu":1500,"hosts":2}`, "unknown"},
		{`{"name":"unknown-nic","network":"bridge","nic":"ne2000","mtu":1500,"hosts":2}`, "NIC model"},
		{`{"name":"x","network":"bridge","nic":"full","mtu":-1,"hosts":2}`, "build cluster x"},
		{`{}`, "unknown"},
	}
	var clusters []string
	for _, c := range hostile {
		clusters = append(clusters, c.cluster)
	}
	answer := sendRaw(t, l.Address(), `{"do":"build","spec":{"cc":"cubic","pin":"apart","clusters":[`+strings.Join(clusters, ",")+`]}}`+"\n", 0)
	var built struct{ Topology site.Topology }
	if err := json.Unmarshal([]byte(answer), &built); err != nil || len(built.Topology.Clusters) != len(hostile) {
		t.Fatalf("answered %q, %v", answer, err)
	}
	for n, c := range hostile {
		labtest.Contains(t, c.cluster, built.Topology.Clusters[n].Error, c.want)
	}
	labtest.Contains(t, "the keeper's answer after it", sendRaw(t, l.Address(), `{"do":"show"}`+"\n", 0), "topology")
}
