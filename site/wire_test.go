package site

import (
	"bytes"
	"encoding/json"
	"errors"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"tare/protocol"
	"tare/test/labtest"
)

// pair is both sides of a conversation.
func pair(t testing.TB) (near, far conversation) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	var sides [2]conversation
	for n, fd := range fds {
		file := os.NewFile(uintptr(fd), "side")
		conn, err := net.FileConn(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
		socket := conn.(*net.UnixConn)
		t.Cleanup(func() { socket.Close() })
		sides[n] = newConversation(socket)
	}
	return sides[0], sides[1]
}

// FuzzReceive holds the reader of lines to what encoding/json makes of them,
// whatever arrives and in however many pieces.
func FuzzReceive(f *testing.F) {
	for _, text := range []string{"", "\n", "{}\n", `{"do":"show"}` + "\n", "{\n{}\n", `{"argv":["a","b"]}` + "\n" + `{"signal":2}` + "\n", "null", "\x00\n"} {
		f.Add([]byte(text), 3)
	}
	f.Fuzz(func(t *testing.T, text []byte, piece int) {
		if piece < 1 || len(text) > 1<<16 {
			return
		}
		near, far := pair(t)
		go func() {
			defer near.conn.Close()
			for rest := text; len(rest) > 0; {
				n := min(piece, len(rest))
				if _, err := near.conn.Write(rest[:n]); err != nil {
					return // the reader has had enough
				}
				rest = rest[n:]
			}
		}()
		lines := bytes.SplitAfter(text, []byte("\n"))
		for _, line := range lines[:len(lines)-1] { // the last has no end
			var got, want request
			err := far.Read(&got)
			errWant := json.Unmarshal(line, &want)
			if (err == nil) != (errWant == nil) {
				t.Fatalf("%q is received with %v, and is %v", line, err, errWant)
			}
		}
		var none request
		if err := far.Read(&none); err == nil {
			t.Fatalf("%q has no end and is received as %+v", lines[len(lines)-1], none)
		}
	})
}

func TestDescriptorsArriveWithTheirLine(t *testing.T) {
	near, far := pair(t)
	reads, writes, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reads.Close()
	// Longer than a read takes at once.
	long := strings.Repeat("x", 300<<10)
	sent := make(chan error, 1)
	near.conn.goes = []*os.File{reads, writes}
	go func() { sent <- near.Write(request{At: long}) }()
	var got request
	if err := errors.Join(far.Read(&got), <-sent); err != nil {
		t.Fatal(err)
	}
	files := far.conn.came
	if len(files) != 2 || got.At != long {
		t.Fatalf("%d files, %d bytes, want 2 and %d", len(files), len(got.At), len(long))
	}
	writes.Close()
	if _, err := files[1].WriteString("through"); err != nil {
		t.Error(err)
	}
	files[1].Close()
	text := make([]byte, 16)
	if n, err := files[0].Read(text); err != nil || string(text[:n]) != "through" {
		t.Errorf("the other end of the pipe reads %q, %v", text[:n], err)
	}
	files[0].Close()
}

func TestLineTooLongIsRefused(t *testing.T) {
	near, far := pair(t)
	go func() {
		chunk := make([]byte, 1<<20)
		for {
			if _, err := near.conn.Write(chunk); err != nil {
				return // it has hung up
			}
		}
	}()
	var got request
	if err := far.Read(&got); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("an endless line: %v", err)
	}
	far.conn.Close()
}

// A lab of another build is refused with a sentence.
func TestKeeperRefusesAnotherProtocol(t *testing.T) {
	near, far := pair(t)
	go (&keeper{}).converse(far)
	_ = near.Write(protocol.Greeting{Schema: "tare.keeper/0"}) // where it has hung up, the reply says why
	_ = near.Write(request{})
	_, err := near.reply()
	if err == nil || !refused(err) {
		t.Fatalf("another protocol: %v", err)
	}
	labtest.Equal(t, "error", err.Error(), `the protocol of this tare is "tare.keeper/0" and that of the lab is "tare.keeper/1"`)
}

func TestExitStatusIsTheShells(t *testing.T) {
	for status, want := range map[syscall.WaitStatus]int{0: 0, 7 << 8: 7, 255 << 8: 255, 9: 137, 15: 143} {
		if got := exitStatus(status); got != want {
			t.Errorf("wait status %#x is exit status %d, want %d", status, got, want)
		}
	}
}

func TestAddressesAreAsShortAsTheyCanBe(t *testing.T) {
	of := func(baselines, others []string) Topology {
		var topology Topology
		add := func(name string, baseline bool) {
			topology.Clusters = append(topology.Clusters, Built{ClusterSpec: ClusterSpec{Name: name, Baseline: baseline}})
			topology.Namespaces = append(topology.Namespaces, name+".h1", name+".h1/c1")
		}
		for _, name := range baselines {
			add(name, true)
		}
		for _, name := range others {
			add(name, false)
		}
		return topology
	}
	for _, c := range []struct {
		about     string
		topology  Topology
		addresses string
		at, means string
		has       bool
	}{
		{"one network", of([]string{"a1", "a2"}, []string{"vxlan"}), "h1 h1/c1", "h1/c1", "vxlan.h1/c1", true},
		{"one network, whole address", of([]string{"a1"}, []string{"vxlan"}), "h1 h1/c1", "a1.h1", "a1.h1", true},
		{"the baseline alone", of([]string{"a1", "a2"}, nil), "h1 h1/c1", "h1", "a1.h1", true},
		{"two networks", of([]string{"a1"}, []string{"b", "c"}), "a1.h1 a1.h1/c1 b.h1 b.h1/c1 c.h1 c.h1/c1", "h1", "h1", false},
		{"two networks, whole address", of(nil, []string{"b", "c"}), "b.h1 b.h1/c1 c.h1 c.h1/c1", "c.h1/c1", "c.h1/c1", true},
		{"a host that is not there", of(nil, []string{"b"}), "h1 h1/c1", "h9", "b.h9", false},
		{"nothing", Topology{}, "", "h1", "h1", false},
	} {
		if got := strings.Join(c.topology.Addresses(), " "); got != c.addresses {
			t.Errorf("%s: addresses %q, want %q", c.about, got, c.addresses)
		}
		if got := c.topology.Full(c.at); got != c.means || c.topology.Has(c.at) != c.has {
			t.Errorf("%s: %s means %s and is there: %t; want %s, %t", c.about, c.at, got, c.topology.Has(c.at), c.means, c.has)
		}
	}
}
