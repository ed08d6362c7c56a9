package servicemesh

import (
	"crypto/tls"
	"net"
	"net/netip"
	"strings"
	"testing"
)

// pair is a connection over the loopback.
func pair(t *testing.T) (client, server *net.TCPConn) {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	dialed, err := net.Dial("tcp4", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	accepted, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dialed.Close(); accepted.Close() })
	return dialed.(*net.TCPConn), accepted.(*net.TCPConn)
}

// trusted is what a relay has for the container with an address.
func trusted(t *testing.T, a *Authority, addr, protocol string) *trust {
	t.Helper()
	credentials, err := a.Issue(netip.MustParseAddr(addr))
	if err != nil {
		t.Fatal(err)
	}
	trust, err := credentials.trust(protocol)
	if err != nil {
		t.Fatal(err)
	}
	return trust
}

func authority(t *testing.T) *Authority {
	t.Helper()
	a, err := NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	return a
}

const (
	clientAt = "10.101.0.2"
	serverAt = "10.102.0.2"
)

// Each end refuses a peer that is another container, has another mesh's certificate or none, or
// speaks another protocol. In TLS 1.3 a client learns with its first read that it is refused.
func TestBothEndsAreVerified(t *testing.T) {
	ours, theirs := authority(t), authority(t)
	client, server := trusted(t, ours, clientAt, protocolOfSidecars), trusted(t, ours, serverAt, protocolOfSidecars)
	plain := client.with(netip.MustParseAddr(serverAt))
	plain.Certificates = nil
	old := server.with(netip.MustParseAddr(clientAt))
	old.MinVersion, old.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
	for _, c := range []struct {
		name           string
		client, server *tls.Config
		clientErr      string // part of it; empty: none
		serverErr      string
	}{
		{"as it is to be", client.with(netip.MustParseAddr(serverAt)), server.with(netip.MustParseAddr(clientAt)), "", ""},
		{"no certificate", plain, server.with(netip.MustParseAddr(clientAt)), "certificate required", "didn't provide a certificate"},
		{
			"another mesh's client", trusted(t, theirs, clientAt, protocolOfSidecars).with(netip.MustParseAddr(serverAt)), server.with(netip.MustParseAddr(clientAt)),
			"signed by unknown authority", "bad certificate",
		},
		{
			"another container as client", trusted(t, ours, "10.101.0.3", protocolOfSidecars).with(netip.MustParseAddr(serverAt)), server.with(netip.MustParseAddr(clientAt)),
			"bad certificate", "verify spiffe://cluster.local/ns/mesh/sa/10.101.0.2: the peer is [spiffe://cluster.local/ns/mesh/sa/10.101.0.3]",
		},
		{
			"another container as server", client.with(netip.MustParseAddr(serverAt)), trusted(t, ours, "10.102.0.3", protocolOfSidecars).with(netip.MustParseAddr(clientAt)),
			"verify spiffe://cluster.local/ns/mesh/sa/10.102.0.2: the peer is [spiffe://cluster.local/ns/mesh/sa/10.102.0.3]", "bad certificate",
		},
		{"another protocol", client.with(netip.MustParseAddr(serverAt)), trusted(t, ours, serverAt, protocolOfTunnels).with(netip.MustParseAddr(clientAt)), "no application protocol", "unsupported application protocols"},
		{"an older TLS", client.with(netip.MustParseAddr(serverAt)), old, "protocol version", "unsupported versions"},
	} {
		near, far := pair(t)
		answered := make(chan error, 1)
		go func() {
			secure := tls.Server(far, c.server)
			err := shake(secure)
			if err == nil {
				_, err = secure.Write([]byte("!"))
			}
			answered <- err
		}()
		_, err := tls.Client(near, c.client).Read(make([]byte, 1))
		near.Close()
		checkError(t, c.name+": client", err, c.clientErr)
		checkError(t, c.name+": server", <-answered, c.serverErr)
	}
}

func checkError(t *testing.T, name string, err error, part string) {
	t.Helper()
	switch {
	case part == "" && err != nil:
		t.Errorf("%s: %v", name, err)
	case part != "" && (err == nil || !strings.Contains(err.Error(), part)):
		t.Errorf("%s: %v, want one with %q", name, err, part)
	}
}
