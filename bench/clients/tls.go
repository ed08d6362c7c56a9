package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"tare/traffic"
	engine "tare/traffic/tls"
)

// The files of openssl s_server and s_time.
const (
	rootFile, certificateFile, keyFile = "root.pem", "certificate.pem", "key.pem"
	bodyFile                           = "body"
	bodySize                           = 1024
)

// tlsContest has s_time and our client shake hands with openssl s_server: TLS 1.3, X25519,
// a certificate of ECDSA on P-256 that both verify, and 1 KiB by HTTP/1.0. s_server serves
// one connection at a time.
func tlsContest() contest {
	return contest{
		name: "tls", other: "openssl s_time", get: "apt-get install openssl",
		serve: func(at netip.AddrPort, dir string) []string {
			if err := writeIdentity(dir); err != nil {
				return []string{"sh", "-c", "echo '" + err.Error() + "'; exit 1"}
			}
			return []string{
				"openssl", "s_server", "-accept", at.String(), "-quiet", "-WWW", "-tls1_3", "-groups", "X25519",
				"-cert", certificateFile, "-key", keyFile,
			}
		},
		call: func(at netip.AddrPort, dir string) []string {
			return []string{
				"openssl", "s_time", "-connect", at.String(), "-new", "-tls1_3", "-verify", "2",
				"-CAfile", filepath.Join(dir, rootFile), "-www", "/" + bodyFile, "-time", "1",
			}
		},
		read: readSTime,
	}
}

// sTimeCount is of its last line but one: "1017 connections in 2 real seconds, 1073 bytes read per connection".
var sTimeCount = regexp.MustCompile(`(\d+) connections in \d+ real seconds, (\d+) bytes read per connection`)

// readSTime reads what s_time counted. It counts its time in whole seconds only.
func readSTime(printed []byte) (figures, error) {
	found := sTimeCount.FindSubmatch(printed)
	if found == nil {
		return nil, fmt.Errorf("no count in %q", bytes.TrimSpace(printed))
	}
	count, err := strconv.ParseFloat(string(found[1]), 64)
	if err != nil {
		return nil, err
	}
	if size, err := strconv.Atoi(string(found[2])); err != nil || size < bodySize {
		return nil, fmt.Errorf("%d bytes of each response, want %d and more", size, bodySize)
	}
	return figures{"count": count}, nil
}

// contestToken is that of both ends: no secret, where only the loopback reaches the server.
func contestToken() traffic.Token { return traffic.Token{1} }

// writeIdentity writes a certificate of the run's root, its key, the root, and what is served.
func writeIdentity(dir string) error {
	root, err := engine.NewRoot(contestToken())
	if err != nil {
		return err
	}
	issued, err := root.Issue()
	if err != nil {
		return err
	}
	key, err := x509.MarshalECPrivateKey(issued.PrivateKey.(*ecdsa.PrivateKey))
	if err != nil {
		return err
	}
	write := func(name string, content []byte) error { return os.WriteFile(filepath.Join(dir, name), content, 0o600) }
	block := func(kind string, raw []byte) []byte { return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: raw}) }
	return errors.Join(
		write(rootFile, block("CERTIFICATE", root.Certificate.Raw)),
		write(certificateFile, block("CERTIFICATE", issued.Certificate[0])),
		write(keyFile, block("EC PRIVATE KEY", key)),
		write(bodyFile, traffic.RandomPayload(bodySize)))
}

// callTLS is our client's turn.
func callTLS(ctx context.Context, at netip.AddrPort) (traffic.Transactions, error) {
	return engine.Call(ctx, at, engine.Options{
		Window: traffic.Window{Warmup: warmup, Duration: time.Second}, Token: contestToken(),
		Path: "/" + bodyFile, Groups: []tls.CurveID{tls.X25519},
	})
}
