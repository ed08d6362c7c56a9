package servicemesh

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"net/netip"
	"net/url"
	"time"
)

// The identity of a container, as Istio writes that of a workload
// (spiffe://cluster.local/ns/NAMESPACE/sa/ACCOUNT). The account is the container's address: a
// relay sees by the destination which identity to require, where Istio's control plane says so.
const (
	trustDomain = "cluster.local"
	identityOf  = "/ns/mesh/sa/"
)

// Identity is the SPIFFE identity of the container with an address.
func Identity(addr netip.Addr) *url.URL {
	return &url.URL{Scheme: "spiffe", Host: trustDomain, Path: identityOf + addr.String()}
}

// How long certificates are valid: nothing replaces them while a lab is up. Clocks of the
// machines of a lab are one.
const (
	validBefore = time.Hour
	validFor    = 365 * 24 * time.Hour
)

// Authority issues the certificates of one mesh.
type Authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// NewAuthority makes an authority with a new key.
func NewAuthority() (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make key of the mesh's authority: %w", err)
	}
	template := x509.Certificate{
		Subject: pkix.Name{CommonName: "tare mesh"}, SerialNumber: big.NewInt(1), IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-validBefore), NotAfter: time.Now().Add(validFor), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("make certificate of the mesh's authority: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	return &Authority{cert: cert, key: key}, err
}

// Credentials are the key and the certificate of a container, and the certificate of the
// authority.
type Credentials struct {
	Leaf []byte // DER
	Key  []byte // PKCS #8
	Root []byte // DER
}

// Issue makes a key and a certificate for the identity of the container with an address.
// It is safe for concurrent use.
func (a *Authority) Issue(addr netip.Addr) (Credentials, error) {
	failed := func(err error) (Credentials, error) {
		return Credentials{}, fmt.Errorf("issue certificate of %s: %w", addr, err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return failed(err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return failed(err)
	}
	template := x509.Certificate{
		SerialNumber: serial, URIs: []*url.URL{Identity(addr)},
		NotBefore: time.Now().Add(-validBefore), NotAfter: time.Now().Add(validFor), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	leaf, err := x509.CreateCertificate(rand.Reader, &template, a.cert, key.Public(), a.key)
	if err != nil {
		return failed(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return failed(err)
	}
	return Credentials{Leaf: leaf, Key: secret, Root: a.cert.Raw}, nil
}

// trust is what a relay presents to others for a container, and requires of them.
type trust struct {
	base  *tls.Config
	roots *x509.CertPool
}

// trust reads the credentials. Both ends speak TLS 1.3 with this protocol alone and make a full
// handshake for each connection. The curves are Envoy's defaults. Records are full from the
// first on, as with Envoy and ztunnel; Go's begin small.
func (c Credentials) trust(protocol string) (*trust, error) {
	key, errKey := x509.ParsePKCS8PrivateKey(c.Key)
	root, errRoot := x509.ParseCertificate(c.Root)
	if err := errors.Join(errKey, errRoot); err != nil {
		return nil, fmt.Errorf("read credentials: %w", err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(root)
	return &trust{roots: roots, base: &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{c.Leaf}, PrivateKey: key}},
		MinVersion:   tls.VersionTLS13, NextProtos: []string{protocol},
		CurvePreferences:       []tls.CurveID{tls.X25519, tls.CurveP256},
		ClientAuth:             tls.RequireAndVerifyClientCert,
		ClientCAs:              roots,
		SessionTicketsDisabled: true, DynamicRecordSizingDisabled: true,
		// An identity is no host's name: verify checks chain and identity instead.
		InsecureSkipVerify: true,
	}}, nil
}

// with is the configuration for a connection to or from the container with an address: a peer
// with another identity is refused.
func (t *trust) with(addr netip.Addr) *tls.Config {
	config := t.base.Clone()
	config.VerifyConnection = func(state tls.ConnectionState) error { return t.verify(state, addr) }
	return config
}

func (t *trust) verify(state tls.ConnectionState, addr netip.Addr) error {
	want := Identity(addr).String()
	if len(state.PeerCertificates) == 0 {
		return fmt.Errorf("verify %s: it presents no certificate", want)
	}
	leaf := state.PeerCertificates[0]
	_, err := leaf.Verify(x509.VerifyOptions{Roots: t.roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}})
	switch {
	case err != nil:
		return fmt.Errorf("verify %s: %w", want, err)
	case len(leaf.URIs) != 1 || leaf.URIs[0].String() != want:
		return fmt.Errorf("verify %s: the peer is %v", want, leaf.URIs)
	case state.NegotiatedProtocol != t.base.NextProtos[0]:
		return fmt.Errorf("verify %s: it does not speak %s", want, t.base.NextProtos[0])
	}
	return nil
}
