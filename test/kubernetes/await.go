package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// open makes a client of the cluster.
func open(kubeconfig []byte) (*kubernetes.Clientset, error) {
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig: %w", err)
	}
	return kubernetes.NewForConfig(config)
}

// awaitCluster waits until the cluster can run pods on every node, and gives each
// node the range of its pods' addresses.
func awaitCluster(ctx context.Context, kubeconfig []byte, want settings) error {
	client, err := open(kubeconfig)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, readyWait)
	defer cancel()
	for {
		err := settled(ctx, client, want)
		if err == nil {
			return setRanges(ctx, client, want)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for cluster: %w: tare lab exec --name %s %s -- cat %s shows more", err, want.Name, first, logOf("kubelet"))
		case <-time.After(readyStep):
		}
	}
}

// settled fails until all nodes are ready and pods can be made.
func settled(ctx context.Context, client *kubernetes.Clientset, want settings) error {
	for n := range want.Nodes {
		node, err := client.CoreV1().Nodes().Get(ctx, nodeName(n+1), meta.GetOptions{})
		if err != nil {
			return fmt.Errorf("find node %s: %w", nodeName(n+1), err)
		}
		if err := ready(node); err != nil {
			return err
		}
	}
	_, err := client.CoreV1().ServiceAccounts(core.NamespaceDefault).Get(ctx, "default", meta.GetOptions{})
	return err
}

// ready fails unless a node is ready, and accepts pods.
func ready(node *core.Node) error {
	if len(node.Spec.Taints) > 0 {
		return fmt.Errorf("node %s has taint %s", node.Name, node.Spec.Taints[0].Key)
	}
	for _, condition := range node.Status.Conditions {
		switch {
		case condition.Type != core.NodeReady:
		case condition.Status == core.ConditionTrue:
			return nil
		default:
			return fmt.Errorf("node %s is not ready: %s", node.Name, condition.Message)
		}
	}
	return fmt.Errorf("node %s has not reported yet", node.Name)
}

// setRanges gives each node the range that its CNI configuration has.
func setRanges(ctx context.Context, client *kubernetes.Clientset, want settings) error {
	for n := range want.Nodes {
		patch := fmt.Appendf(nil, `{"spec": {"podCIDR": %q, "podCIDRs": [%[1]q]}}`, want.nodeRange(n+1))
		_, err := client.CoreV1().Nodes().Patch(ctx, nodeName(n+1), types.StrategicMergePatchType, patch, meta.PatchOptions{})
		if err != nil {
			return fmt.Errorf("set range of pods of %s: %w", nodeName(n+1), err)
		}
	}
	return nil
}

// serves fails unless the cluster's API server answers.
func (h home) serves(ctx context.Context) error {
	text, err := os.ReadFile(h.kubeconfig())
	if err != nil {
		return fmt.Errorf("read kubeconfig: %w", err)
	}
	client, err := open(text)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	answer, err := client.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
	if err == nil && string(answer) != "ok" {
		err = errors.New(string(answer))
	}
	return err
}
