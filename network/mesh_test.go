package network_test

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"tare/lab"
	"tare/network"
	"tare/site"
)

// asSeen are the networks whose packets the tests of a mesh look at, and how a server sees a
// container of the other host: a sidecar connects to its container itself.
func asSeen() map[string]string {
	return map[string]string{"route": "10.101.0.2", "mesh-sidecar": "127.0.0.6", "mesh-ambient": "10.101.0.2"}
}

func TestLabUserMesh(t *testing.T) {
	l := build(t, append(clusters("mesh"), on("route"))...)
	// First, since it counts tunnels.
	t.Run("tunnels are shared", func(t *testing.T) { tunnelsAreShared(t, l) })
	keepPromises(t, l)
	t.Run("TCP alone is encrypted", func(t *testing.T) { encryptsTCPAlone(t, l) })
	for _, n := range ofFamily("mesh") {
		t.Run(n.Name+" refuses the uncertified", func(t *testing.T) { refusesTheUncertified(t, l, n) })
		t.Run(n.Name+" passes on half of an end", func(t *testing.T) { passesOnHalfOfAnEnd(t, l, n.Name) })
	}
}

// encryptsTCPAlone holds that what a server sends by TCP is not to be read on the wire between
// the hosts, and the servers see the addresses that Istio's relays show them. UDP is to be read,
// and comes from the container itself. On the network below, the same watcher reads both.
func encryptsTCPAlone(t *testing.T, l *site.Lab) {
	for name, seen := range asSeen() {
		watcher := serve(t, l, name+".h2", "spy", lab.Device, seen+":", question)
		if got := seenAs(t, l, name+".h1/c1", containerAddress, name+".h2/c1", containerAddress); got != seen {
			t.Errorf("%s: the server sees %s, want %s", name, got, seen)
		}
		datagramAnswered(t, l, name+".h1/c1", containerAddress, name+".h2/c1", containerAddress)
		want := "hidden"
		if name == "route" {
			want = "plain"
		}
		if got := watcher.line(t); got != want {
			t.Errorf("%s: what the server sent is %q on the wire, want %q", name, got, want)
		}
	}
	// The relays of one host have both ends of this one, which stays on it.
	for _, n := range ofFamily("mesh") {
		if got := seenAs(t, l, n.Name+".h1/c1", "10.101.0.3:99", n.Name+".h1/c2", "10.101.0.3:99"); got != asSeen()[n.Name] {
			t.Errorf("%s: the server on the same host sees %s, want %s", n.Name, got, asSeen()[n.Name])
		}
		// A container calls itself, and what is not in the mesh, without TLS.
		for server, address := range map[string]string{"h1/c1": "10.101.0.2:99", "h2": host2 + ":99"} {
			if got := seenAs(t, l, n.Name+".h1/c1", address, n.Name+"."+server, address); got != "10.101.0.2" {
				t.Errorf("%s: %s sees %s, want 10.101.0.2", n.Name, server, got)
			}
		}
	}
}

// refusesTheUncertified holds that whoever has no certificate of the mesh reaches no container,
// neither by TLS nor in plain, also from the containers' own host: the server that waits
// meanwhile then has its first connection from a container.
func refusesTheUncertified(t *testing.T, l *site.Lab, n network.Network) {
	at := containerAddress
	if n.Name == "mesh-ambient" {
		at = container2 + ":15008"
	}
	server := serve(t, l, n.Name+".h2/c1", "greet", containerAddress)
	for _, client := range []string{"h1", "h2"} {
		printed, status, err := exec(t.Context(), l, n.Name+"."+client, "/proc/self/exe", "uncertified", at)
		if err != nil || status != 0 || !strings.Contains(printed, "certificate required") {
			t.Errorf("a client on %s without a certificate: %q, status %d, %v", client, printed, status, err)
		}
		if _, status, err := exec(t.Context(), l, n.Name+"."+client, "/proc/self/exe", "plainly", containerAddress); err != nil || status != 0 {
			t.Errorf("a client on %s in plain: status %d, %v", client, status, err)
		}
	}
	if printed, status, err := exec(t.Context(), l, n.Name+".h1/c1", "/proc/self/exe", "call", containerAddress); err != nil || status != 0 || printed == "" {
		t.Errorf("a container of the mesh: %q, status %d, %v", printed, status, err)
	}
	if err := server.end(); err != nil {
		t.Error(err)
	}
}

// tunnelsAreShared holds that connections of a container to another share a tunnel of the
// ambient mode. A container that is added to a host later is in the mesh too, also in the place
// of one that has gone.
func tunnelsAreShared(t *testing.T, l *site.Lab) {
	for range 3 {
		seenAs(t, l, "mesh-ambient.h1/c1", containerAddress, "mesh-ambient.h2/c1", containerAddress)
	}
	// Established to port 15008, as /proc/net/tcp writes it.
	printed, _, err := exec(t.Context(), l, "mesh-ambient.h1/c1", "grep", "-c", ":3AA0 01 ", "/proc/net/tcp")
	if err != nil || printed != "1\n" {
		t.Errorf("three connections in turn are carried by %q tunnels (%v), want one", printed, err)
	}
	for range 2 { // the second has the address of the first
		if _, err := l.Attach(t.Context(), "mesh-ambient", network.CrossHost); err != nil {
			t.Fatal(err)
		}
	}
	// Each of the two relays holds its own namespace and those of its two containers.
	printed = shell(t, l, "mesh-ambient.h2", "for p in $(pgrep -f 'mesh-relay [a]mbient'); do ls -l /proc/$p/fd; done | grep -c net:")
	if printed != "6\n" {
		t.Errorf("the relays of two hosts with two containers each hold %q namespaces, want 6", printed)
	}
}

// passesOnHalfOfAnEnd holds that a client that ends its direction first has its answer, and the
// server all that was sent.
func passesOnHalfOfAnEnd(t *testing.T, l *site.Lab, name string) {
	server := serve(t, l, name+".h2/c1", "count", containerAddress)
	printed, status, err := exec(t.Context(), l, name+".h1/c1", "/proc/self/exe", "upload", containerAddress)
	if err := errors.Join(err, server.end()); err != nil || status != 0 || printed != fmt.Sprint(uploaded) {
		t.Errorf("the server received %q bytes of %d, status %d, %v", printed, uploaded, status, err)
	}
}

// uploaded is how many bytes upload sends: more than fit into all windows on the way.
const uploaded = 32 << 20

// count accepts a connection, and answers when the caller has ended its direction: with how many bytes
// came.
func count(address string) error {
	listener, err := net.Listen("tcp4", address)
	if err != nil {
		return err
	}
	defer listener.Close()
	fmt.Println(ready)
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

func upload(address string) (string, error) {
	conn, err := dial(address)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if _, err := conn.Write(make([]byte, uploaded)); err != nil {
		return "", err
	}
	if err := conn.CloseWrite(); err != nil {
		return "", err
	}
	answer, err := io.ReadAll(conn)
	return string(answer), err
}

// question is what ask sends.
const question = "who is there?"

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
	wait := unix.NsecToTimeval(int64(callWait))
	if err := errors.Join(
		unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &wait),
		unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: swap(unix.ETH_P_ALL), Ifindex: link}),
	); err != nil {
		return err
	}
	fmt.Println(ready)
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
	conn, err := dial(address)
	if err != nil {
		return err
	}
	defer conn.Close()
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
	conn, err := dial(address)
	if errors.Is(err, syscall.ECONNRESET) {
		return nil
	}
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.Write([]byte(question)); err != nil && !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, syscall.EPIPE) {
		return err
	}
	got, err := io.ReadAll(conn)
	if errors.Is(err, os.ErrDeadlineExceeded) || bytes.ContainsRune(got, ':') { // the server sends ADDRESS:PORT
		return fmt.Errorf("call %s: not refused: %q, %w", address, got, err)
	}
	return nil
}
