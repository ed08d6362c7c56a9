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
func (c *cluster) facts(ctx context.Context, p plan) []string {
	var facts []string
	for _, alike := range divided(p.nodes, func(n corev1.Node) string {
		i := n.Status.NodeInfo
		return fmt.Sprintf("Linux %s, kubelet %s, %s, zone %s, type %s", i.KernelVersion, i.KubeletVersion, i.ContainerRuntimeVersion,
			orNotSaid(n.Labels[corev1.LabelTopologyZone]), orNotSaid(n.Labels[corev1.LabelInstanceTypeStable]))
	}) {
		facts = append(facts, "node "+names(alike.nodes)+": "+alike.by)
	}
	facts = append(facts, unlike(p.nodes)...)
	facts = append(facts, "pod network: "+c.plugin(ctx, p.nodes), "services: "+c.proxy(ctx), "pods run "+p.image)
	if text := p.has.text(); text != "" {
		facts = append(facts, "load that this run adds: "+text)
	}
	return facts
}

func orNotSaid(text string) string {
	if text == "" {
		return notSaid
	}
	return text
}

// alike are nodes that have something in common.
type alike struct {
	by    string
	nodes []corev1.Node
}

// divided divides nodes by something, in the order in which it comes.
func divided(nodes []corev1.Node, by func(corev1.Node) string) (all []alike) {
	for _, n := range nodes {
		at := slices.IndexFunc(all, func(a alike) bool { return a.by == by(n) })
		if at < 0 {
			at, all = len(all), append(all, alike{by: by(n)})
		}
		all[at].nodes = append(all[at].nodes, n)
	}
	return all
}

// unlike names what nodes do not have in common, by what they say themselves. Machines are
// compared by what is seen there.
func unlike(nodes []corev1.Node) (differences []string) {
	for _, of := range []struct {
		what string
		in   func(corev1.Node) string
	}{
		{"kubelet", func(n corev1.Node) string { return n.Status.NodeInfo.KubeletVersion }},
		{"container runtime", func(n corev1.Node) string { return n.Status.NodeInfo.ContainerRuntimeVersion }},
		{"zone", func(n corev1.Node) string { return n.Labels[corev1.LabelTopologyZone] }},
		{"type", func(n corev1.Node) string { return n.Labels[corev1.LabelInstanceTypeStable] }},
	} {
		var parts []string
		for _, a := range divided(nodes, of.in) {
			parts = append(parts, names(a.nodes)+" with "+orNotSaid(a.by))
		}
		if len(parts) > 1 {
			differences = append(differences, fmt.Sprintf("nodes differ in their %s: %s", of.what, strings.Join(parts, "; ")))
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
	sets, err := list[appsv1.DaemonSet](ctx, c, daemonSets(), "", "")
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
