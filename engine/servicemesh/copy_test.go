package servicemesh

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/netip"
	"syscall"
	"testing"
	"time"

	"tare/test/labtest"
)

// relayedPair is a connection that two relays carry between them by TLS, as sidecars do.
func relayedPair(t *testing.T) (client, server *net.TCPConn) {
	t.Helper()
	a := authority(t)
	client, app := pair(t)
	near, far := pair(t)
	own, server := pair(t)
	for _, conn := range []*net.TCPConn{client, server} {
		if err := conn.SetDeadline(time.Now().Add(dialWait)); err != nil {
			t.Fatal(err)
		}
	}
	go func() {
		secure := tls.Client(near, trusted(t, a, clientAt, protocolOfSidecars).with(netip.MustParseAddr(serverAt)))
		relay(app, secure, func() { reset(app, near) })
		near.Close()
	}()
	go func() {
		secure := tls.Server(far, trusted(t, a, serverAt, protocolOfSidecars).with(netip.MustParseAddr(clientAt)))
		relay(secure, own, func() { reset(far, own) })
		far.Close()
	}()
	return client, server
}

// Either end may end its direction first: the other one still carries everything.
func TestRelaysPassOnHalfOfAnEnd(t *testing.T) {
	sent := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	for _, serverFirst := range []bool{false, true} {
		first, last := relayedPair(t)
		if serverFirst {
			first, last = last, first
		}
		if _, err := first.Write([]byte("the end")); err != nil {
			t.Fatal(err)
		}
		if err := first.CloseWrite(); err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(last)
		labtest.Equal(t, "what came before the first end", string(got), "the end")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			last.Write(sent) //nolint:errcheck // the reader sees what is missing
			last.CloseWrite()
		}()
		got, err = io.ReadAll(first)
		if err != nil || !bytes.Equal(got, sent) {
			t.Errorf("the server ends first: %t: %d bytes of %d come after the first end, %v", serverFirst, len(got), len(sent), err)
		}
	}
}

// A connection that was reset is reset at the other end too: what was cut off does not look
// complete.
func TestRelaysPassOnAReset(t *testing.T) {
	client, server := relayedPair(t)
	if _, err := client.Write([]byte("a part")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(server, make([]byte, len("a part"))); err != nil {
		t.Fatal(err)
	}
	reset(client)
	if _, err := server.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the server reads %v after the client's reset, want a reset", err)
	}
}

// A peer that takes nothing stops the one that sends: relays hold no more than their buffers.
func TestRelaysHoldASenderBack(t *testing.T) {
	client, _ := relayedPair(t)
	if err := client.SetWriteDeadline(time.Now().Add(300 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	sent, chunk := 0, make([]byte, 1<<20)
	for {
		n, err := client.Write(chunk)
		sent += n
		if errors.Is(err, syscall.ETIMEDOUT) || isTimeout(err) {
			break
		}
		if err != nil || sent > 1<<30 {
			t.Fatalf("%d bytes were taken of a sender whose peer reads nothing: %v", sent, err)
		}
	}
	labtest.AtMost(t, "bytes taken", sent, 64<<20) // three pairs of sockets whose buffers grow
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}
