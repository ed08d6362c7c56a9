package iperf3

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/sys/unix"
)

// refusal is a server's answer to a test that it does not run: the number is
// iperf3's own (iperf_api.h), which the client prints as a sentence.
type refusal struct {
	code  int32
	cause error
}

func (r *refusal) Error() string { return r.cause.Error() }
func (r *refusal) Unwrap() error { return r.cause }

// Some of iperf3's error numbers.
const (
	errDuration     = 5
	errFlows        = 6
	errBlock        = 7
	errWindow       = 8
	errOmit         = 12
	errBurst        = 16
	errDatagram     = 20
	errTOS          = 21
	errTotalRate    = 27
	errParameters   = 114
	errProtocol     = 131
	errCongestion   = 134
	errUnauthorised = 142
	errStreamListen = 202
)

func refuse(code int32, format string, args ...any) error {
	return &refusal{code, fmt.Errorf(format, args...)}
}

// serverError reads why the server refused: two numbers, of which an old
// server may leave out the second.
func (c *client) serverError() error {
	var got [8]byte
	if err := c.control.conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	n, err := io.ReadFull(c.control.conn, got[:])
	if n < 4 {
		return fmt.Errorf("the server refused the test without a reason: %w", silent(err, patience))
	}
	code := int32(binary.BigEndian.Uint32(got[:]))
	text := fmt.Sprintf("the server refused the test with iperf3's error %d", code)
	if words := refusalWords(code); words != "" {
		text += " (" + words + ")"
	}
	if errno := unix.Errno(binary.BigEndian.Uint32(got[4:])); errno > 0 {
		text += fmt.Sprintf(": %v", errno)
	}
	return errors.New(text + "; see its own output")
}

// refusalWords gives the meaning of the common ones of iperf3's error numbers.
func refusalWords(code int32) string {
	switch code {
	case errDuration:
		return "the duration is too long for it"
	case errFlows:
		return "too many flows"
	case errBlock, errDatagram:
		return "it does not take this size"
	case errWindow:
		return "it does not take this window"
	case errTotalRate:
		return "the rate is above its limit: ask for less"
	case errProtocol:
		return "it does not support this protocol"
	case errCongestion:
		return "it lacks this congestion control"
	case errUnauthorised:
		return "it wants a user name and password"
	case errStreamListen:
		return "it could not listen for the flows"
	}
	return ""
}
