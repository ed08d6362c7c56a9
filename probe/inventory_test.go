package probe

import (
	"errors"
	"fmt"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"tare/test/labtest"
)

// TestLabInventoryIsThatOfTheNamespace reads a new network namespace with its
// loopback up.
func TestLabInventoryIsThatOfTheNamespace(t *testing.T) {
	var held Inventory
	failed := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the namespace
		err := unix.Unshare(unix.CLONE_NEWNET)
		if err != nil {
			err = errors.Join(errors.New("make a network namespace: this test needs root"), err)
		} else if err = loopbackUp(); err == nil {
			held, err = Inspect("/")
		}
		failed <- err
	}()
	if err := <-failed; err != nil {
		t.Fatal(err)
	}
	var lo Link
	for _, link := range held.Links {
		if link.Name == "lo" {
			lo = link
		}
	}
	labtest.Equal(t, "kind of lo", lo.Kind, "device")
	labtest.Equal(t, "MAC of lo", lo.MAC, "")
	labtest.Equal(t, "up, of lo", lo.Up, true)
	labtest.Equal(t, "MTU of lo", lo.MTU, 65536)
	labtest.Equal(t, "addresses of lo", fmt.Sprint(lo.Addresses), "[127.0.0.1/8]")
	if held.Inode == 0 || len(held.Routes)+len(held.Neighbours)+len(held.FDB)+len(held.Rules) > 0 {
		t.Errorf("a new namespace holds %+v", held)
	}
}
