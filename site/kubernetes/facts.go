package kubernetes

import (
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"tare/result"
)

// notSaid is what the cluster does not say, or not to this user.
const notSaid = "not known"

// facts are what the cluster says about itself before anything is measured. Where it is only
// configured so, that is said too.
func (c *cluster) facts(ctx context.Context, nodes []corev1.Node, image string) []string {
	var facts []string
	for _, n := range nodes {
		i := n.Status.NodeInfo
		facts = append(facts, fmt.Sprintf("node %s: Linux %s, kubelet %s, %s, zone %s, type %s", n.Name, i.KernelVersion, i.KubeletVersion, i.ContainerRuntimeVersion,
			orNotSaid(n.Labels[corev1.LabelTopologyZone]), orNotSaid(n.Labels[corev1.LabelInstanceTypeStable])))
	}
	facts = append(facts, unlike(nodes)...)
	return append(facts, "pod network: "+c.plugin(ctx, nodes), "services: "+c.proxy(ctx), "pods run "+image+", which the nodes have")
}

func orNotSaid(text string) string {
	if text == "" {
		return notSaid
	}
	return text
}

// unlike names what two nodes do not have in common, by what they say themselves. Machines are
// compared by what is seen there.
func unlike(nodes []corev1.Node) (differences []string) {
	if len(nodes) < 2 {
		return nil
	}
	for _, of := range []struct {
		what string
		in   func(corev1.Node) string
	}{
		{"kubelet", func(n corev1.Node) string { return n.Status.NodeInfo.KubeletVersion }},
		{"container runtime", func(n corev1.Node) string { return n.Status.NodeInfo.ContainerRuntimeVersion }},
		{"zone", func(n corev1.Node) string { return n.Labels[corev1.LabelTopologyZone] }},
		{"type", func(n corev1.Node) string { return n.Labels[corev1.LabelInstanceTypeStable] }},
	} {
		if a, b := of.in(nodes[0]), of.in(nodes[1]); a != b {
			differences = append(differences, fmt.Sprintf("nodes differ in their %s: %s has %s, %s has %s", of.what, nodes[0].Name, orNotSaid(a), nodes[1].Name, orNotSaid(b)))
		}
	}
	return differences
}

// flannelBackend is the annotation by which flannel says how its packets travel.
const flannelBackend = "flannel.alpha.coreos.com/backend-type"

// plugins are the names of CNI's plugins in those of their DaemonSets.
var plugins = []string{"cilium", "calico", "flannel", "kindnet", "antrea", "ovnkube", "kube-router", "weave", "aws-node", "azure-cni", "canal"}

// plugin is the CNI plugin as the cluster's objects show it: an annotation of the nodes, or the
// name of a DaemonSet.
func (c *cluster) plugin(ctx context.Context, nodes []corev1.Node) string {
	if backend := nodes[0].Annotations[flannelBackend]; backend != "" {
		return "flannel, backend " + backend + ", as an annotation of the node says"
	}
	sets, err := list[appsv1.DaemonSet](ctx, c, kind{"apps", "v1", "daemonsets"}, "", "")
	if err != nil {
		return notSaid + " (this user may not list DaemonSets)"
	}
	for _, set := range sets {
		for _, name := range plugins {
			if strings.Contains(set.Name, name) {
				return name + ", by the DaemonSet " + set.Namespace + "/" + set.Name
			}
		}
	}
	return notSaid + ": no DaemonSet has the name of a plugin"
}

// proxy is what carries packets to services, by kube-proxy's configuration as kubeadm keeps it.
func (c *cluster) proxy(ctx context.Context) string {
	maps, err := list[corev1.ConfigMap](ctx, c, core("configmaps"), "kube-system", "")
	if err != nil {
		return notSaid + " (this user may not read ConfigMaps in kube-system)"
	}
	config, there := result.First(maps, func(m corev1.ConfigMap) bool { return m.Name == "kube-proxy" })
	if !there {
		return notSaid + ": there is no ConfigMap kube-system/kube-proxy"
	}
	lines := strings.Split(config.Data["config.conf"], "\n")
	at := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "mode:") })
	if at < 0 {
		return "kube-proxy, mode " + notSaid
	}
	mode := strings.Trim(strings.TrimPrefix(lines[at], "mode:"), ` "`)
	if mode == "" {
		mode = "iptables (the default)"
	}
	return "kube-proxy by " + mode + ", as its ConfigMap says"
}
