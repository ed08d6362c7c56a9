package grpc

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// polledConn is a second descriptor of a socket, which the netpoller waits for, as in a
// program that uses package net. The calls on the first do not block from then on.
func polledConn(fd int) (net.Conn, error) {
	second, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("hand socket over: %w", err)
	}
	file := os.NewFile(uintptr(second), "socket")
	defer file.Close()
	conn, err := net.FileConn(file)
	if err != nil {
		return nil, fmt.Errorf("hand socket over: %w", err)
	}
	return conn, nil
}
