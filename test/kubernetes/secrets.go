package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net"
	"strings"

	"k8s.io/client-go/util/cert"
)

// secrets are what the parts of one cluster prove themselves by.
type secrets struct {
	Certificate string            // of the API server and what signed it, PEM
	Key         string            // of the certificate
	AccountKey  string            // signs the tokens of service accounts
	Tokens      map[string]string // by user
}

// The users besides the nodes.
const (
	admin         = "admin"
	proxyUser     = "system:kube-proxy"
	schedulerUser = "system:kube-scheduler"
)

// nodeUser is the user of a node's kubelet, as the Node authorizer wants it.
func nodeUser(node string) string { return "system:node:" + node }

// group is the group of a user; empty: none.
func group(user string) string {
	switch {
	case user == admin:
		return "system:masters"
	case strings.HasPrefix(user, nodeUser("")):
		return "system:nodes"
	}
	return ""
}

func newSecrets(nodes int) (secrets, error) {
	certificate, key, err := cert.GenerateSelfSignedCertKey(nodeAddr(1).String(),
		[]net.IP{net.IPv4(127, 0, 0, 1), net.ParseIP(serviceAPI)},
		[]string{"localhost", first, "kubernetes", "kubernetes.default", "kubernetes.default.svc"})
	if err != nil {
		return secrets{}, fmt.Errorf("make certificate: %w", err)
	}
	accountKey, err := newAccountKey()
	if err != nil {
		return secrets{}, fmt.Errorf("make key of service accounts: %w", err)
	}
	s := secrets{string(certificate), string(key), accountKey, map[string]string{}}
	users := []string{admin, proxyUser, schedulerUser}
	for n := range nodes {
		users = append(users, nodeUser(nodeName(n+1)))
	}
	for _, user := range users {
		s.Tokens[user] = rand.Text()
	}
	return s, nil
}

func newAccountKey() (string, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return "", err
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})), nil
}

// tokenFile is the API server's static token file.
func (s secrets) tokenFile() string {
	var lines strings.Builder
	for user, token := range s.Tokens {
		fmt.Fprintf(&lines, "%s,%s,%s,%q\n", token, user, user, group(user))
	}
	return lines.String()
}

// kubeconfig is a user's kubeconfig for the API server at an address. JSON is
// YAML, too.
func (s secrets) kubeconfig(user, address string) (string, error) {
	type object = map[string]any
	text, err := json.MarshalIndent(object{
		"apiVersion": "v1", "kind": "Config", "current-context": usual,
		"clusters": []object{{"name": usual, "cluster": object{
			"server":                     "https://" + address,
			"certificate-authority-data": base64.StdEncoding.EncodeToString([]byte(s.Certificate)),
		}}},
		"users":    []object{{"name": user, "user": object{"token": s.Tokens[user]}}},
		"contexts": []object{{"name": usual, "context": object{"cluster": usual, "user": user}}},
	}, "", "  ")
	if err != nil {
		return "", fmt.Errorf("write kubeconfig of %s: %w", user, err)
	}
	return string(text), nil
}
