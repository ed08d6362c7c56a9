package tls

import (
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"tare/test/labtest"
	"tare/test/traffictest"
	"tare/traffic"
)

// TestRealOpenSSLAndOurClient shake hands with the same openssl s_server, which has a certificate
// of the run's root: a server of another library takes our client, and another client verifies
// our certificates.
func TestRealOpenSSLAndOurClient(t *testing.T) {
	const body = 1024
	dir := t.TempDir()
	writeIdentity(t, dir, body)
	free := traffictest.ListenTCP(t)
	at := netip.AddrPortFrom(traffictest.Loopback.Addr().Next(), free.Addr().Port()) // no other process has this port there
	server := exec.Command("openssl", "s_server", "-accept", at.String(), "-quiet", "-WWW", "-tls1_3", "-groups", "X25519",
		"-cert", "certificate.pem", "-key", "key.pem")
	server.Dir = dir
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Process.Kill(); err != nil {
			t.Error(err)
		}
		_ = server.Wait()
	})
	labtest.Await(t, "openssl listens", func() bool {
		c, err := net.DialTimeout("tcp", at.String(), time.Second)
		return err == nil && c.Close() == nil
	})

	ours, err := Call(t.Context(), at, Options{Window: traffictest.ShortWindow, Token: traffictest.Token, Path: "/body", Groups: []tls.CurveID{tls.X25519}})
	if err != nil {
		t.Fatal(err)
	}
	labtest.AtLeast(t, "handshakes of our client", ours.Count, 1)

	printed, err := exec.Command("openssl", "s_time", "-connect", at.String(), "-new", "-tls1_3", "-verify", "2",
		"-CAfile", filepath.Join(dir, "root.pem"), "-www", "/body", "-time", "1").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, printed)
	}
	found := regexp.MustCompile(`(\d+) connections in \d+ real seconds, (\d+) bytes read per connection`).FindSubmatch(printed)
	if found == nil {
		t.Fatalf("s_time made no connections: %s", printed)
	}
	for n, least := range []int{1, body} {
		if value, err := strconv.Atoi(string(found[n+1])); err != nil || value < least {
			t.Errorf("s_time printed %d, want %d and more: %s", value, least, printed)
		}
	}
}

// writeIdentity writes a certificate of the run's root, its key, the root, and what is served.
func writeIdentity(t *testing.T, dir string, body int) {
	t.Helper()
	root, err := NewRoot(traffictest.Token)
	if err != nil {
		t.Fatal(err)
	}
	issued, err := root.Issue()
	if err != nil {
		t.Fatal(err)
	}
	key, err := x509.MarshalECPrivateKey(issued.PrivateKey.(*ecdsa.PrivateKey))
	if err != nil {
		t.Fatal(err)
	}
	block := func(kind string, raw []byte) []byte { return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: raw}) }
	for name, content := range map[string][]byte{
		"root.pem": block("CERTIFICATE", root.Certificate.Raw), "certificate.pem": block("CERTIFICATE", issued.Certificate[0]),
		"key.pem": block("EC PRIVATE KEY", key), "body": traffic.RandomPayload(body),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
