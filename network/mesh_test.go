package network_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tare/lab"
	"tare/network"
	"tare/site"
	"tare/test/labtest"
)

// asSeen are the networks whose packets the tests of a mesh look at, and how a server sees a
// container of the other host: a sidecar connects to its container itself.
var asSeen = map[string]string{"route": "10.101.0.2", "mesh-sidecar": "127.0.0.6", "mesh-ambient": "10.101.0.2"}

// Every path carries small and large messages.
func TestLabUserMeshCarries(t *testing.T) {
	l := build(t, on("mesh-sidecar"), on("mesh-ambient"))
	for _, name := range []string{"mesh-sidecar", "mesh-ambient"} {
		n, _ := network.Find(name)
		for _, path := range n.Paths {
			carries(t, l, built(t, l, name), path, 1500)
		}
	}
}

// What a server sends by TCP is not to be read on the wire between the hosts, and the servers see
// the addresses that Istio's relays show them. UDP is to be read, and comes from the container
// itself. On the network below, the same watcher reads both.
func TestLabUserMeshEncryptsTCPAlone(t *testing.T) {
	l := build(t, on("route"), on("mesh-sidecar"), on("mesh-ambient"))
	for name, seen := range asSeen {
		verdict := spyOn(t, l, name+".h2", seen+":", question)
		if got := seenAs(t, l, name+".h1/c1", containerAddress, name+".h2/c1", containerAddress); got != seen {
			t.Errorf("%s: the server sees %s, want %s", name, got, seen)
		}
		datagramAnswered(t, l, name+".h1/c1", containerAddress, name+".h2/c1", containerAddress)
		want := "hidden\n"
		if name == "route" {
			want = "plain\n"
		}
		if got := verdict(); got != want {
			t.Errorf("%s: what the server sent is %q on the wire, want %q", name, got, want)
		}
	}
	// The relays of one host have both ends of this one, which stays on it.
	for _, name := range []string{"mesh-sidecar", "mesh-ambient"} {
		if got := seenAs(t, l, name+".h1/c1", "10.101.0.3:99", name+".h1/c2", "10.101.0.3:99"); got != asSeen[name] {
			t.Errorf("%s: the server on the same host sees %s, want %s", name, got, asSeen[name])
		}
		// A container calls itself, and what is not in the mesh, without TLS.
		for server, address := range map[string]string{"h1/c1": "10.101.0.2:99", "h2": host2 + ":99"} {
			if got := seenAs(t, l, name+".h1/c1", address, name+"."+server, address); got != "10.101.0.2" {
				t.Errorf("%s: %s sees %s, want 10.101.0.2", name, server, got)
			}
		}
	}
}

// Whoever has no certificate of the mesh reaches no container, neither by TLS nor in plain, also
// from the containers' own host: the server that waits meanwhile then has its first connection
// from a container.
func TestLabUserMeshRefusesTheUncertified(t *testing.T) {
	l := build(t, on("mesh-sidecar"), on("mesh-ambient"))
	for name, at := range map[string]string{"mesh-sidecar": containerAddress, "mesh-ambient": container2 + ":15008"} {
		ended := make(chan error, 1)
		go func() {
			_, _, err := exec(t.Context(), l, name+".h2/c1", "/proc/self/exe", "greet", containerAddress)
			ended <- err
		}()
		// Until it listens at port 5210, as /proc/net/tcp writes it.
		if _, status, err := exec(t.Context(), l, name+".h2/c1", "timeout", "10", "sh", "-c", "until grep -q ':145A 00000000:0000 0A' /proc/net/tcp; do sleep 0.01; done"); err != nil || status != 0 {
			t.Fatalf("%s: no server: status %d, %v", name, status, err)
		}
		for _, client := range []string{"h1", "h2"} {
			printed, status, err := exec(t.Context(), l, name+"."+client, "/proc/self/exe", "uncertified", at)
			if err != nil || status != 0 || !strings.Contains(printed, "certificate required") {
				t.Errorf("%s: a client on %s without a certificate: %q, status %d, %v", name, client, printed, status, err)
			}
			if _, status, err := exec(t.Context(), l, name+"."+client, "/proc/self/exe", "plainly", containerAddress); err != nil || status != 0 {
				t.Errorf("%s: a client on %s in plain: status %d, %v", name, client, status, err)
			}
		}
		if printed, status, err := exec(t.Context(), l, name+".h1/c1", "/proc/self/exe", "call", containerAddress); err != nil || status != 0 || printed == "" {
			t.Errorf("%s: a container of the mesh: %q, status %d, %v", name, printed, status, err)
		}
		if err := <-ended; err != nil {
			t.Errorf("%s: the server: %v", name, err)
		}
	}
}

// Connections of a container to another share a tunnel of the ambient mode. A container that is
// added to a host later is in the mesh too, also in the place of one that has gone.
func TestLabUserMeshTunnelsAreShared(t *testing.T) {
	l := build(t, on("mesh-ambient"))
	for range 3 {
		seenAs(t, l, "h1/c1", containerAddress, "h2/c1", containerAddress)
	}
	// Established to port 15008, as /proc/net/tcp writes it.
	printed, _, err := exec(t.Context(), l, "h1/c1", "grep", "-c", ":3AA0 01 ", "/proc/net/tcp")
	if err != nil || printed != "1\n" {
		t.Errorf("three connections in turn are carried by %q tunnels (%v), want one", printed, err)
	}
	for range 2 { // the second has the address of the first
		if _, err := l.Attach(t.Context(), "mesh-ambient", network.CrossHost); err != nil {
			t.Fatal(err)
		}
	}
	// Each of the two relays holds its own namespace and those of its two containers.
	printed, _, err = exec(t.Context(), l, "h2", "sh", "-c", "for p in $(pgrep -f 'mesh-relay [a]mbient'); do ls -l /proc/$p/fd; done | grep -c net:")
	if err != nil || printed != "6\n" {
		t.Errorf("the relays of two hosts with two containers each hold %q namespaces (%v), want 6", printed, err)
	}
}

// A client that ends its direction first has its answer, and the server all that was sent.
func TestLabUserMeshPassesOnHalfOfAnEnd(t *testing.T) {
	l := build(t, on("mesh-sidecar"), on("mesh-ambient"))
	for _, name := range []string{"mesh-sidecar", "mesh-ambient"} {
		ended := make(chan error, 1)
		go func() {
			_, _, err := exec(t.Context(), l, name+".h2/c1", "/proc/self/exe", "count", containerAddress)
			ended <- err
		}()
		printed, status, err := exec(t.Context(), l, name+".h1/c1", "/proc/self/exe", "upload", containerAddress)
		if err := errors.Join(err, <-ended); err != nil || status != 0 || printed != fmt.Sprint(uploaded) {
			t.Errorf("%s: the server received %q bytes of %d, status %d, %v", name, printed, uploaded, status, err)
		}
	}
}

// uploaded is how many bytes uploadOnce sends: more than fit into all windows on the way.
const uploaded = 32 << 20

// count accepts a connection, and answers when the caller has ended its direction: with how many bytes
// came.
func count(address string) error {
	listener, err := net.Listen("tcp4", address)
	if err != nil {
		return err
	}
	defer listener.Close()
	conn, err := listener.Accept()
	if err != nil {
		return err
	}
	defer conn.Close()
	n, err := io.Copy(io.Discard, conn)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(conn, n)
	return err
}

func uploadOnce(address string) (string, error) {
	conn, err := net.DialTimeout("tcp4", address, time.Second)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(2 * callWait)); err != nil {
		return "", err
	}
	if _, err := conn.Write(make([]byte, uploaded)); err != nil {
		return "", err
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		return "", err
	}
	answer, err := io.ReadAll(conn)
	return string(answer), err
}

// question is what ask sends.
const question = "who is there?"

// spyOn has a process at a place read what passes its device. It has begun when spyOn returns;
// the function that it returns waits for what the process says.
func spyOn(t *testing.T, l *site.Lab, at, text, last string) func() string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 4*callWait)
	t.Cleanup(cancel)
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { reader.Close() })
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer writer.Close()
		defer null.Close()
		if status, err := l.Exec(ctx, at, []string{"/proc/self/exe", "spy", lab.Device, text, last}, null, writer, os.Stderr); err != nil || status != 0 {
			t.Errorf("spy at %s: status %d, %v", at, status, err)
		}
	}()
	lines := bufio.NewReader(reader)
	next := func() string {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("spy at %s: %q, %v", at, line, err)
		}
		return line
	}
	labtest.Equal(t, "the spy begins", next(), "ready\n")
	return next
}

// spy reads what passes a device until it has seen the last text, and prints whether the
// first was to be read before.
func spy(device, text, last string) error {
	link, err := interfaceIndex(device)
	if err != nil {
		return err
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW, 0)
	if err != nil {
		return err
	}
	wait := unix.NsecToTimeval(int64(3 * callWait))
	if err := errors.Join(
		unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &wait),
		unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: swap(unix.ETH_P_ALL), Ifindex: link}),
	); err != nil {
		return err
	}
	fmt.Println("ready")
	verdict := "hidden"
	for frame := make([]byte, 128<<10); ; {
		n, _, err := unix.Recvfrom(fd, frame, 0)
		if err != nil {
			return err
		}
		if bytes.Contains(frame[:n], []byte(text)) {
			verdict = "plain"
		}
		if bytes.Contains(frame[:n], []byte(last)) {
			fmt.Println(verdict)
			return nil
		}
	}
}

// uncertified prints why a relay refuses TLS without a certificate, and fails if it does not.
func uncertified(address string) error {
	conn, err := net.DialTimeout("tcp4", address, callWait)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(callWait)); err != nil {
		return err
	}
	secure := tls.Client(conn, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"istio", "h2"}})
	if _, err := secure.Read(make([]byte, 1)); err != nil {
		fmt.Print(err)
		return nil
	}
	return fmt.Errorf("call %s: it is answered without a certificate", address)
}

// plainly fails unless a client without TLS is refused: its connection ends, without a word of
// the server's.
func plainly(address string) error {
	conn, err := net.DialTimeout("tcp4", address, callWait)
	if errors.Is(err, syscall.ECONNRESET) {
		return nil
	}
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(callWait)); err != nil {
		return err
	}
	if _, err := conn.Write([]byte(question)); err != nil && !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, syscall.EPIPE) {
		return err
	}
	got, err := io.ReadAll(conn)
	if errors.Is(err, os.ErrDeadlineExceeded) || bytes.ContainsRune(got, ':') { // the server sends ADDRESS:PORT
		return fmt.Errorf("call %s: not refused: %q, %w", address, got, err)
	}
	return nil
}
