package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// bare makes namespaces with a veth pair each, up at both ends, and nothing
// else: what the kernel itself takes.
func bare(count int) (remove func() error, err error) {
	var held []*os.File
	remove = func() error {
		var errs []error
		for _, file := range held {
			errs = append(errs, file.Close())
		}
		return errors.Join(errs...)
	}
	host, err := newNamespace()
	if err != nil {
		return nil, err
	}
	held = append(held, host)
	err = within(host, func() error {
		handle, err := netlink.NewHandle(unix.NETLINK_ROUTE)
		if err != nil {
			return err
		}
		defer handle.Close()
		for n := range count {
			file, err := newNamespace()
			if err != nil {
				return err
			}
			held = append(held, file)
			if err := pair(handle, file, n); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, errors.Join(err, remove())
	}
	return remove, nil
}

// pair joins the namespace of the handle with another, both ends up. The
// first devices of a new namespace are its loopback, 1, and this one, 2.
func pair(handle *netlink.Handle, peer *os.File, n int) error {
	attrs := netlink.NewLinkAttrs()
	attrs.Name = fmt.Sprintf("v%d", n)
	veth := &netlink.Veth{LinkAttrs: attrs, PeerName: "eth0", PeerNamespace: netlink.NsFd(peer.Fd())}
	if err := handle.LinkAdd(veth); err != nil {
		return fmt.Errorf("add veth pair: %w", err)
	}
	if err := handle.LinkSetUp(veth); err != nil {
		return fmt.Errorf("bring up veth pair: %w", err)
	}
	return within(peer, func() error {
		inside, err := netlink.NewHandle(unix.NETLINK_ROUTE)
		if err != nil {
			return err
		}
		defer inside.Close()
		link, err := inside.LinkByName("eth0")
		if err != nil {
			return err
		}
		return inside.LinkSetUp(link)
	})
}

func newNamespace() (file *os.File, err error) {
	err = onThread(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("create network namespace: %w", err)
		}
		file, err = os.Open("/proc/thread-self/ns/net")
		return err
	})
	return file, err
}

func within(ns *os.File, work func() error) error {
	return onThread(func() error {
		if err := unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("enter network namespace: %w", err)
		}
		return work()
	})
}

// onThread runs work on a thread that ends with it.
func onThread(work func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		done <- work()
	}()
	return <-done
}
