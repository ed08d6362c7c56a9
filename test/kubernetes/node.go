package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
)

const (
	containerd = scratch + "/containerd/containerd.sock" // as the lab starts it

	kubeletHealth = "127.0.0.1:10248"
	proxyHealth   = "127.0.0.1:10256"

	zone = "topology.kubernetes.io/zone=z1" // of all nodes
)

type object = map[string]any

// startKubelet starts the node's kubelet, whose pods are below a control group.
// It can't lower an OOM score: that needs CAP_SYS_RESOURCE.
func (n node) startKubelet(ctx context.Context, group string) error {
	config, err := n.writeConfig("kubelet", object{
		"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
		"address": nodeAddr(n.number).String(), "healthzBindAddress": "127.0.0.1",
		"authentication": object{"anonymous": object{"enabled": true}, "webhook": object{"enabled": false}},
		"authorization":  object{"mode": "AlwaysAllow"}, // the API server and pods alone reach it
		"cgroupDriver":   "cgroupfs", "cgroupRoot": group, "failCgroupV1": false,
		"containerRuntimeEndpoint": "unix://" + containerd,
		"volumePluginDir":          own + "/plugins",
		"failSwapOn":               false, "oomScoreAdj": 0, "makeIPTablesUtilChains": false,
		"enforceNodeAllocatable": []string{"pods"}, "localStorageCapacityIsolation": false,
		"syncFrequency": "10s",
	})
	if err != nil {
		return err
	}
	kubeconfig, err := n.writeKubeconfig(nodeUser(n.name))
	if err != nil {
		return err
	}
	kubelet, err := startPart("kubelet", "--config="+config, "--kubeconfig="+kubeconfig,
		"--hostname-override="+n.name, "--node-ip="+nodeAddr(n.number).String(), "--node-labels="+zone, "--cert-dir="+own+"/kubelet")
	if err != nil {
		return err
	}
	// It is healthy before it has started all of its parts, and then registers the node.
	return kubelet.await(ctx, func() error { return healthy(kubeletHealth) })
}

// startProxy starts the node's kube-proxy. It leaves the size of the table of
// connections as it is: that is the machine's.
func (n node) startProxy(ctx context.Context) error {
	config := object{
		"apiVersion": "kubeproxy.config.k8s.io/v1alpha1", "kind": "KubeProxyConfiguration",
		"mode": n.Settings.Proxy, "hostnameOverride": n.name, "clusterCIDR": n.Settings.podRange(),
		"healthzBindAddress": proxyHealth, "metricsBindAddress": "127.0.0.1:10249", "oomScoreAdj": 0,
		"conntrack": object{"maxPerCore": 0, "min": 0, "tcpEstablishedTimeout": "0s", "tcpCloseWaitTimeout": "0s"},
	}
	kubeconfig, err := n.writeKubeconfig(proxyUser)
	if err != nil {
		return err
	}
	config["clientConnection"] = object{"kubeconfig": kubeconfig}
	path, err := n.writeConfig("kube-proxy", config)
	if err != nil {
		return err
	}
	proxy, err := startPart("kube-proxy", "--config="+path)
	if err != nil {
		return err
	}
	return proxy.await(ctx, func() error { return healthy(proxyHealth) })
}

// writeConfig writes the configuration of a part. JSON is YAML, too.
func (n node) writeConfig(part string, config object) (path string, err error) {
	text, err := json.Marshal(config)
	if err != nil {
		return "", fmt.Errorf("write configuration of %s: %w", part, err)
	}
	path = filepath.Join(own, part+".yaml")
	return path, writeFile(path, text, 0o600)
}

// writeKubeconfig writes a user's kubeconfig for the lab.
func (n node) writeKubeconfig(user string) (path string, err error) {
	text, err := n.Secrets.kubeconfig(user, apiAddr())
	if err != nil {
		return "", err
	}
	path = filepath.Join(own, user+".kubeconfig")
	return path, writeFile(path, []byte(text), 0o600)
}

// healthy fails unless a part reports at an address that it is.
func healthy(address string) error {
	client := http.Client{Timeout: dialTimeout}
	reply, err := client.Get("http://" + address + "/healthz")
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		return fmt.Errorf("ask %s: %s", address, reply.Status)
	}
	return nil
}
