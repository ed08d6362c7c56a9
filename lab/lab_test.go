package lab

import (
	"errors"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"

	"tare/catalog"
)

func TestUndoRunsBackwardsAndJoinsErrors(t *testing.T) {
	var undo Undo
	var ran []string
	first, last := errors.New("first"), errors.New("last")
	undo.Push(func() error { ran = append(ran, "a"); return first })
	undo.Push(func() error { ran = append(ran, "b"); return nil })
	undo.Push(func() error { ran = append(ran, "c"); return last })
	err := undo.Close()
	if got := strings.Join(ran, ""); got != "cba" {
		t.Errorf("steps ran as %q, want cba", got)
	}
	if !errors.Is(err, first) || !errors.Is(err, last) {
		t.Errorf("Close = %v, want both errors", err)
	}
	if err := undo.Close(); err != nil || len(ran) != 3 {
		t.Errorf("a second Close = %v and ran %d steps again", err, len(ran)-3)
	}
}

func TestAddressesNeverCollide(t *testing.T) {
	seen := map[netip.Addr]string{}
	take := func(addr netip.Addr, owner string) {
		if other, taken := seen[addr]; taken {
			t.Fatalf("%s belongs to %s and to %s", addr, other, owner)
		}
		seen[addr] = owner
	}
	underlay := netip.MustParsePrefix("10.0.0.0/16")
	for n := 1; n <= catalog.MaxHosts; n++ {
		h := &Host{Number: n}
		take(UnderlayAddr(0, n), "a host")
		take(h.Subnet().Addr().Next(), "a gateway")
		for c := 1; c <= catalog.MaxContainers; c++ {
			take(h.ContainerAddr(c), "a container")
			take(UnderlayAddr(n, c), "a container on the underlay")
			if !h.Subnet().Contains(h.ContainerAddr(c)) || !underlay.Contains(UnderlayAddr(n, c)) {
				t.Fatalf("container %d of host %d is outside its subnet", c, n)
			}
		}
	}
}

func TestMACHoldsTheAddress(t *testing.T) {
	if got := MAC(netip.MustParseAddr("10.101.0.2")).String(); got != "02:42:0a:65:00:02" {
		t.Errorf("MAC = %s", got)
	}
}

func TestLinkIsInexactAboveAGSOPacketPerBurst(t *testing.T) {
	for _, c := range []struct {
		bitsPerSecond float64
		inexact       bool
	}{{1e6, false}, {1e9, false}, {3.4e9, false}, {10e9, true}, {100e9, true}} {
		if got := LinkIsInexact(c.bitsPerSecond); got != c.inexact {
			t.Errorf("LinkIsInexact(%g) = %t", c.bitsPerSecond, got)
		}
	}
}

func TestExplainSaysWhatToDo(t *testing.T) {
	for _, c := range []struct {
		cause error
		says  string
	}{
		{&os.PathError{Op: "fork/exec", Err: syscall.EPERM}, "run as root"},
		{&os.PathError{Op: "fork/exec", Err: syscall.ENOSPC}, "user.max_user_namespaces"},
	} {
		err := Explain(c.cause)
		if !errors.Is(err, ErrNamespaces) || !errors.Is(err, c.cause) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("Explain(%v) = %v", c.cause, err)
		}
	}
	other := errors.New("other")
	if err := Explain(other); err != other {
		t.Errorf("Explain(other) = %v", err)
	}
}

func TestClusterSpecIsChecked(t *testing.T) {
	for _, c := range []struct {
		about string
		spec  ClusterSpec
		says  string // empty: accepted
	}{
		{"one host", ClusterSpec{Hosts: 1, NIC: NICFull}, ""},
		{"the most", ClusterSpec{Hosts: catalog.MaxHosts, NIC: NICPlain}, ""},
		{"no host", ClusterSpec{NIC: NICFull}, "use 1 to 63"},
		{"less than none", ClusterSpec{Hosts: -1, NIC: NICFull}, "use 1 to 63"},
		{"too many", ClusterSpec{Hosts: catalog.MaxHosts + 1, NIC: NICFull}, "use 1 to 63"},
		{"unknown NIC", ClusterSpec{Hosts: 2, NIC: "e1000"}, "full, tso, frames, plain"},
	} {
		err := c.spec.check()
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.about, err)
		}
	}
}
