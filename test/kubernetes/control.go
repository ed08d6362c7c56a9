package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

const (
	storePort   = 2379
	dialTimeout = time.Second // of one request to a part that starts
)

// storeURL is where etcd listens. flannel reaches it from all hosts.
func storeURL() string { return "http://" + netip.AddrPortFrom(nodeAddr(1), storePort).String() }

// startServer starts etcd and the API server. ready waits until that serves.
func (n node) startServer(ctx context.Context) (ready func() error, err error) {
	if err := startStore(ctx); err != nil {
		return nil, err
	}
	if n.Settings.Datapath == flannel {
		if err := configureFlannel(ctx); err != nil {
			return nil, err
		}
	}
	for name, text := range map[string]string{
		"api.crt": n.Secrets.Certificate, "api.key": n.Secrets.Key,
		"accounts.key": n.Secrets.AccountKey, "tokens.csv": n.Secrets.tokenFile(),
	} {
		if err := writeFile(filepath.Join(own, name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	server, err := startPart("kube-apiserver",
		"--etcd-servers="+storeURL(),
		"--bind-address="+nodeAddr(1).String(), "--advertise-address="+nodeAddr(1).String(), fmt.Sprintf("--secure-port=%d", apiPort),
		"--tls-cert-file="+own+"/api.crt", "--tls-private-key-file="+own+"/api.key",
		"--service-cluster-ip-range="+serviceRange,
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file="+own+"/accounts.key", "--service-account-signing-key-file="+own+"/accounts.key",
		"--token-auth-file="+own+"/tokens.csv", "--authorization-mode=Node,RBAC",
		"--allow-privileged=true",
		"--kubelet-preferred-address-types=InternalIP") // the nodes' names are in no DNS
	if err != nil {
		return nil, err
	}
	return func() error { return server.await(ctx, n.serverReady) }, nil
}

// startStore starts etcd in a ramfs, whose files can have holes: in a tmpfs its
// two empty logs would take 128 MB of memory.
func startStore(ctx context.Context) error {
	data := filepath.Join(own, "etcd")
	err := os.MkdirAll(data, 0o700)
	if err == nil {
		err = unix.Mount("ramfs", data, "ramfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=700")
	}
	if err != nil {
		return fmt.Errorf("mount %s: %w", data, err)
	}
	const peer = "http://127.0.0.1:2380"
	etcd, err := start("etcd", "etcd", "--name", first, "--data-dir", data,
		"--listen-client-urls", storeURL(), "--advertise-client-urls", storeURL(),
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", first+"="+peer)
	if err != nil {
		return err
	}
	return etcd.await(ctx, func() error {
		conn, err := net.DialTimeout("tcp", netip.AddrPortFrom(nodeAddr(1), storePort).String(), dialTimeout)
		if err != nil {
			return err
		}
		return conn.Close()
	})
}

// startControllers starts the controller manager and the scheduler. The nodes'
// ranges of addresses are those of the data path: no controller assigns them.
func (n node) startControllers() error {
	root, err := n.writeKubeconfig(admin)
	if err != nil {
		return err
	}
	_, err = startPart("kube-controller-manager",
		"--kubeconfig="+root, "--authentication-kubeconfig="+root, "--authorization-kubeconfig="+root,
		"--cert-dir="+own+"/controllers", "--bind-address=127.0.0.1", "--leader-elect=false",
		"--flex-volume-plugin-dir="+own+"/plugins", "--allocate-node-cidrs=false", "--service-cluster-ip-range="+serviceRange,
		"--service-account-private-key-file="+own+"/accounts.key", "--root-ca-file="+own+"/api.crt")
	if err != nil {
		return err
	}
	of, err := n.writeKubeconfig(schedulerUser)
	if err != nil {
		return err
	}
	_, err = startPart("kube-scheduler",
		"--kubeconfig="+of, "--authentication-kubeconfig="+of, "--authorization-kubeconfig="+of,
		"--cert-dir="+own+"/scheduler", "--bind-address=127.0.0.1", "--leader-elect=false")
	return err
}

// awaitServer waits, on another host, for the API server.
func (n node) awaitServer(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyWait)
	defer cancel()
	for {
		err := n.serverReady()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("reach API server from %s: %w: tare lab exec --name %s %s -- cat %s shows why", n.name, err, n.Settings.Name, first, logOf("kube-apiserver"))
		case <-time.After(readyStep):
		}
	}
}

// serverReady fails unless the API server is ready, its roles included.
func (n node) serverReady() error {
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(n.Secrets.Certificate)) {
		return errors.New("read certificate: it has none")
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DisableKeepAlives: true}
	client := http.Client{Timeout: dialTimeout, Transport: transport}
	reply, err := client.Get("https://" + apiAddr() + "/readyz")
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		return fmt.Errorf("ask API server: %s", reply.Status)
	}
	return nil
}
