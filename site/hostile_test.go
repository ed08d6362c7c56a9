package site_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tare/site"
)

// sendRaw sends raw bytes and some descriptors to a keeper and returns its answer.
// A keeper that receives no complete line answers nothing.
func sendRaw(t *testing.T, l *site.Lab, bytes string, descriptors int) string {
	t.Helper()
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: l.Address(), Net: "unix"})
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
	if _, _, err := conn.WriteMsgUnix([]byte(bytes), rights, nil); err != nil {
		t.Fatal(err)
	}
	if err := conn.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if err := conn.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
		t.Fatal(err)
	}
	answer, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil && answer != "" {
		t.Errorf("half an answer to %.40q: %q, %v", bytes, answer, err)
	}
	return answer
}

func TestLabUserSurvivesHostileRequests(t *testing.T) {
	l := build(t, "veth")
	run(t, l, "h1/c1", "", "exit") // mounts are made at first use
	before := idleDescriptors(t, l)
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
		{"null\n", 0, "unknown request"},
		{"[]\n", 0, "cannot unmarshal"},
		{`{"do":7}` + "\n", 0, "cannot unmarshal"},
		{`{"do":"format disk"}` + "\n", 0, "unknown request"},
		{`{"do":"build"}` + "\n", 0, "no spec"},
		{`{"do":"look","at":"nowhere"}` + "\n", 3, "no such host"},
		{`{"do":"start","at":"h1","argv":["true"]}` + "\n", 0, "three descriptors"},
		{`{"do":"start","at":"h1","argv":["true"]}` + "\n", 2, "three descriptors"},
		{`{"do":"start","at":"h1","argv":["true"]}` + "\n", 100, "three descriptors"},
		{`{"do":"start","at":"h1","argv":[]}` + "\n", 3, "a command"},
		{`{"do":"start","at":"h1","argv":[""]}` + "\n", 3, "start"},
		{`{"do":"start","at":"h1","argv":["true"],"dir":"/no/such"}` + "\n", 3, "start true"},
		{`{"do":"start","at":"h1","argv":["a\u0000b"]}` + "\n", 3, "start"},
		{`{"do":"start","at":"h1","argv":["true"]}` + "\n" + `{"signal":9999}` + "\n" + `nonsense`, 3, "started"},
	} {
		if got := sendRaw(t, l, c.bytes, c.descriptors); !strings.Contains(got, c.want) {
			t.Errorf("%.60q with %d descriptors is answered %q, want %q", c.bytes, c.descriptors, got, c.want)
		}
	}
	if got, status := run(t, l, "h1/c1", "", "echo alive"); got != "alive\n" || status != 0 {
		t.Errorf("after it the lab prints %q, status %d", got, status)
	}
	if after := idleDescriptors(t, l); after != before {
		t.Errorf("the keeper holds %d descriptors, %d before", after, before)
	}
}

// idleDescriptors counts what the keeper holds open once all that spoke to it
// have been seen to go: the least of half a second.
func idleDescriptors(t *testing.T, l *site.Lab) int {
	t.Helper()
	least := -1
	for range 50 {
		entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", l.KeeperPID()))
		if err != nil {
			t.Fatal(err)
		}
		if least < 0 || len(entries) < least {
			least = len(entries)
		}
		time.Sleep(10 * time.Millisecond)
	}
	return least
}

// A spec that can't be built has its reason in the topology or in an error, and the
// keeper lives on.
func TestLabUserSurvivesHostileSpecs(t *testing.T) {
	for _, c := range []struct{ about, cluster, want string }{
		{"no host", `{"name":"x","network":"host","nic":"full","mtu":1500,"hosts":0}`, "use 1 to"},
		{"less than none", `{"name":"x","network":"bridge","nic":"full","mtu":1500,"hosts":-5,"containers":-5}`, "use 1 to"},
		{"too many", `{"name":"x","network":"bridge","nic":"full","mtu":1500,"hosts":1000000000}`, "use 1 to"},
		{"unknown network", `{"name":"x","network":"token-ring","nic":"full","mtu":1500,"hosts":2}`, "unknown"},
		{"unknown NIC", `{"name":"x","network":"bridge","nic":"ne2000","mtu":1500,"hosts":2}`, "NIC model"},
		{"a negative MTU", `{"name":"x","network":"bridge","nic":"full","mtu":-1,"hosts":2}`, "build cluster x"},
		{"no network", `{}`, "unknown"},
	} {
		t.Run(c.about, func(t *testing.T) {
			l := start(t)
			answer := sendRaw(t, l, `{"do":"build","spec":{"cc":"cubic","pin":"apart","underlays":[`+c.cluster+`]}}`+"\n", 0)
			var built struct{ Topology site.Topology }
			if err := json.Unmarshal([]byte(answer), &built); err != nil || len(built.Topology.Clusters) != 1 {
				t.Fatalf("answered %q, %v", answer, err)
			}
			if got := built.Topology.Clusters[0].Error; !strings.Contains(got, c.want) {
				t.Errorf("failed with %q, want %q", got, c.want)
			}
			if got := sendRaw(t, l, `{"do":"show"}`+"\n", 0); !strings.Contains(got, "topology") {
				t.Errorf("after it the keeper answers %q", got)
			}
		})
	}
	l := start(t)
	if got := sendRaw(t, l, `{"do":"build","spec":{"cpus":{"h1":"all"}}}`+"\n", 0); !strings.Contains(got, "read CPU list") {
		t.Errorf("a CPU list that is none: %q", got)
	}
}
