package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"
)

// startRelay starts, in a host, a relay to an address. Its listener is standard
// input: a socket of the machine, so that it accepts connections there.
func startRelay(address string) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("start relay: %w", err)
	}
	log, err := os.Create(logOf("relay"))
	if err != nil {
		return fmt.Errorf("start relay: %w", err)
	}
	defer log.Close()
	cmd := exec.Command(self, serveVerb, address)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = "/", os.Stdin, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start relay: %w", err)
	}
	return cmd.Process.Release()
}

// serveRelay relays each connection to an address, until the lab ends.
func serveRelay(address string) error {
	listener, err := net.FileListener(os.Stdin)
	if err != nil {
		return fmt.Errorf("open listener: %w", err)
	}
	for {
		conn, err := listener.Accept()
		if err != nil {
			return fmt.Errorf("accept connection: %w", err)
		}
		go func() {
			if err := relay(conn, address); err != nil {
				fmt.Fprintln(os.Stderr, "relay:", err)
			}
		}()
	}
}

// relay copies both ways until both sides have ended.
func relay(from net.Conn, address string) error {
	defer from.Close()
	to, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer to.Close()
	var wait sync.WaitGroup
	wait.Go(func() { pass(to, from) })
	wait.Go(func() { pass(from, to) })
	wait.Wait()
	return nil
}

// pass copies to the end of one direction. Either side may end the connection at
// any time; what it does then is the other's business.
func pass(to, from net.Conn) {
	_, _ = io.Copy(to, from)
	if half, is := to.(*net.TCPConn); is {
		_ = half.CloseWrite()
	}
}

// listenForRelay makes the relay's listener, at an address at which the API server is reached
// from outside the lab: unlike the relay, it is outside.
func listenForRelay() (*os.File, string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", fmt.Errorf("open relay: %w", err)
	}
	defer listener.Close()
	tcp, is := listener.(*net.TCPListener)
	if !is {
		return nil, "", fmt.Errorf("open relay: %T is no TCP listener", listener)
	}
	file, err := tcp.File()
	return file, listener.Addr().String(), err
}
