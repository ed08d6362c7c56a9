package iperf3

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"syscall"
	"time"
)

// state is one byte on the control connection (iperf_api.h).
type state int8

const (
	testStart       state = 1
	testRunning     state = 2
	testEnd         state = 4
	paramExchange   state = 9
	createStreams   state = 10
	serverTerminate state = 11
	clientTerminate state = 12
	exchangeResults state = 13
	displayResults  state = 14
	iperfDone       state = 16
	accessDenied    state = -1
	serverError     state = -2
)

const (
	// cookieLen is the length of a cookie, its closing NUL included.
	cookieLen = 37
	// maxMessage bounds the JSON of a peer: what a test with the most flows
	// needs, many times over.
	maxMessage = 1 << 20
	// patience is how long a peer may take for its next step.
	patience = 5 * time.Second
	// exchangePatience is for the end of a test: what is sent then waits behind
	// the data in the queues of the path.
	exchangePatience = 15 * time.Second
)

type cookie [cookieLen]byte

// newCookie names a test; iperf3 writes it in base32.
func newCookie() (c cookie) {
	copy(c[:], rand.Text()+rand.Text())
	for i := range c {
		if c[i] >= 'A' && c[i] <= 'Z' {
			c[i] += 'a' - 'A'
		}
	}
	c[cookieLen-1] = 0
	return c
}

// valid reports whether a peer is an iperf3 client, by the first bytes it sends.
func (c cookie) valid() bool {
	unprintable := func(b byte) bool { return b <= ' ' || b > '~' }
	return !slices.ContainsFunc(c[:cookieLen-1], unprintable) && c[cookieLen-1] == 0
}

func (c cookie) String() string { return string(c[:cookieLen-1]) }

// stream is a TCP connection, but in tests of what peers do in time.
type stream interface {
	net.Conn
	syscall.Conn
	CloseRead() error
}

// control is the control connection of one test.
type control struct {
	conn    stream
	release func() bool
}

// newControl ends the connection's reads when ctx ends; what is still to be
// sent can be written.
func newControl(ctx context.Context, conn stream) *control {
	return &control{conn, context.AfterFunc(ctx, func() {
		_ = conn.CloseRead() // it fails on a connection that is gone
	})}
}

func (c *control) close() {
	c.release()
	c.conn.Close()
}

// sendState sends the next state to the peer.
func (c *control) sendState(s state) error {
	return c.write(s, []byte{byte(s)})
}

// sendError sends a client why its test is refused: iperf3's number and errno.
func (c *control) sendError(code int32) error {
	refused := serverError
	text := binary.BigEndian.AppendUint32([]byte{byte(refused)}, uint32(code))
	return c.write(serverError, binary.BigEndian.AppendUint32(text, 0))
}

// sendJSON sends one value behind its length.
func (c *control) sendJSON(value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode message: %w", err)
	}
	return c.write(exchangeResults, append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...))
}

func (c *control) write(about state, text []byte) error {
	err := c.conn.SetWriteDeadline(time.Now().Add(patience))
	if err == nil {
		_, err = c.conn.Write(text)
	}
	if err != nil {
		return fmt.Errorf("write to the control connection (state %d): %w", about, err)
	}
	return nil
}

// receiveState waits for the peer's next state; 0: as long as it takes.
func (c *control) receiveState(within time.Duration) (state, error) {
	var deadline time.Time
	if within > 0 {
		deadline = time.Now().Add(within)
	}
	var got [1]byte
	if err := c.conn.SetReadDeadline(deadline); err != nil {
		return 0, fmt.Errorf("wait for the peer: %w", err)
	}
	if _, err := io.ReadFull(c.conn, got[:]); err != nil {
		return 0, silent(err, within)
	}
	return state(got[0]), nil
}

// readJSON reads one message's text.
func (c *control) readJSON(within time.Duration) ([]byte, error) {
	if err := c.conn.SetReadDeadline(time.Now().Add(within)); err != nil {
		return nil, fmt.Errorf("wait for the peer: %w", err)
	}
	text, err := readMessage(c.conn)
	if err != nil {
		return nil, silent(err, within)
	}
	return text, nil
}

// readMessage reads a length and as many bytes.
func readMessage(from io.Reader) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(from, length[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(length[:])
	if n > maxMessage {
		return nil, fmt.Errorf("a message of %d bytes: no iperf3 sends more than %d", n, maxMessage)
	}
	text, err := io.ReadAll(io.LimitReader(from, int64(n)))
	if err == nil && len(text) < int(n) {
		err = io.ErrUnexpectedEOF
	}
	return text, err
}

var (
	errClosed = errors.New("the peer closed the control connection")
	errSilent = errors.New("no answer")
)

// silent names what ended a read.
func silent(err error, within time.Duration) error {
	var timeout net.Error
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return errClosed
	case errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Errorf("%w within %v", errSilent, within)
	}
	return fmt.Errorf("read from the control connection: %w", err)
}
