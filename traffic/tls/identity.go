package tls

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"strconv"
	"time"

	"tare/traffic"
)

const (
	// serverName is the server's name in its certificate, one that the DNS never has (RFC 6761).
	serverName = "server.tare.test"
	// validity is how long before and after now a certificate is valid: the clocks of the two
	// ends may differ, and its key ends with the run.
	validity = 365 * 24 * time.Hour
)

// Root is the certificate authority of one run. Both ends derive its key, of ECDSA on
// P-256, from the run's token, so that nothing else has to pass between them.
type Root struct {
	Certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// NewRoot is the authority of the run with that token.
func NewRoot(token traffic.Token) (Root, error) {
	key, err := rootKey(token)
	if err != nil {
		return Root{}, fmt.Errorf("derive the run's root key: %w", err)
	}
	template := validNow("tare, of one run")
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return Root{}, fmt.Errorf("make the run's root certificate: %w", err)
	}
	certificate, err := x509.ParseCertificate(raw)
	return Root{certificate, key}, err
}

// rootKey derives a key by HKDF (RFC 5869). A candidate that is no scalar of the curve, one
// in 2^32, is passed over.
func rootKey(token traffic.Token) (*ecdsa.PrivateKey, error) {
	const candidates, size = 8, 32
	var failed error
	for n := range candidates {
		raw, err := hkdf.Key(sha256.New, token[:], nil, "tare tls root "+strconv.Itoa(n), size)
		if err != nil {
			return nil, err
		}
		key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), raw)
		if err == nil {
			return key, nil
		}
		failed = err
	}
	return nil, failed
}

// Issue makes a new key of ECDSA on P-256, and a certificate for it.
func (r Root) Issue() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make the server's key: %w", err)
	}
	template := validNow(serverName)
	template.DNSNames = []string{serverName}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	raw, err := x509.CreateCertificate(rand.Reader, template, r.Certificate, key.Public(), r.key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make the server's certificate: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}, nil
}

// issueFor is a certificate for the server of the run with that token.
func issueFor(token traffic.Token) (tls.Certificate, error) {
	root, err := NewRoot(token)
	if err != nil {
		return tls.Certificate{}, err
	}
	return root.Issue()
}

// trusting is the configuration of a client that verifies a server's certificate by the root.
func (r Root) trusting() *tls.Config {
	roots := x509.NewCertPool()
	roots.AddCert(r.Certificate)
	return &tls.Config{RootCAs: roots, ServerName: serverName, MinVersion: tls.VersionTLS13}
}

func validNow(name string) *x509.Certificate {
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: now.Add(-validity), NotAfter: now.Add(validity),
	}
}
