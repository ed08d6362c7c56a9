package kubernetes

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"tare/catalog"
	"tare/test/labtest"
)

// A namespace that takes pods under Pod Security's "restricted" takes a run's.
func TestPodsAreRestricted(t *testing.T) {
	p := Site{}.plan("x", []corev1.Node{node("a", ""), node("b", "")}, "busybox")
	labtest.Equal(t, "pods", len(p.pods), 5)
	for _, pod := range p.pods {
		place, s, c := pod.Annotations[placeNote], pod.Spec, pod.Spec.Containers[0]
		host := place == catalog.HostOf(place)
		labtest.Equal(t, place+" is on its node's network", s.HostNetwork, host)
		labtest.Equal(t, place+" is in the namespace for that", strings.HasSuffix(pod.Namespace, "-host"), host)
		sealed := *s.SecurityContext.RunAsNonRoot && s.SecurityContext.SeccompProfile.Type == corev1.SeccompProfileTypeRuntimeDefault &&
			!*c.SecurityContext.AllowPrivilegeEscalation && *c.SecurityContext.ReadOnlyRootFilesystem && c.SecurityContext.Capabilities.Drop[0] == "ALL"
		labtest.Equal(t, place+" is restricted", sealed, true)
		if *s.AutomountServiceAccountToken || *s.ActiveDeadlineSeconds <= 0 || c.Resources.Limits.Memory().IsZero() || c.Resources.Requests.Cpu().IsZero() || !c.Resources.Limits.Cpu().IsZero() {
			t.Errorf("%s has no token, a deadline, a limit of memory and none of CPU time: %+v", place, s)
		}
		labtest.Equal(t, place+" is on", s.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchFields[0].Values[0],
			map[string]string{"h1": "a", "h2": "b"}[catalog.HostOf(place)])
	}
}

// Only what was asked for is privileged: the pods on the nodes' own networks.
func TestNodesAreProbedByTheirOwnPods(t *testing.T) {
	for _, pod := range (Site{ProbeNodes: true}).plan("x", []corev1.Node{node("a", ""), node("b", "")}, "busybox").pods {
		privileged := pod.Spec.Containers[0].SecurityContext.Privileged
		labtest.Equal(t, pod.Name+" is privileged", privileged != nil && *privileged, pod.Spec.HostNetwork)
		labtest.Equal(t, pod.Name+" is root's", *pod.Spec.SecurityContext.RunAsUser == 0, pod.Spec.HostNetwork)
	}
}

func TestServicesLeadToPodsByTheSamePorts(t *testing.T) {
	second := node("b", "")
	second.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeHostName, Address: "b"}, {Type: corev1.NodeInternalIP, Address: "192.0.2.2"}}
	p := Site{}.plan("x", []corev1.Node{node("a", ""), second}, "busybox")
	for n := range p.services {
		p.services[n].Spec.ClusterIP = fmt.Sprintf("198.51.100.%d", n+1)
		for _, port := range p.services[n].Spec.Ports {
			if port.Port != port.TargetPort.IntVal || port.NodePort != 0 && port.NodePort != port.Port {
				t.Errorf("port %+v leads to another", port)
			}
		}
	}
	frontends, err := p.frontends()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range frontends {
		got = append(got, fmt.Sprintf("%s %s %s %s", f.Path, f.From, f.To, f.At))
	}
	slices.Sort(got)
	labtest.Equal(t, "frontends", strings.Join(got, "\n"), strings.Join([]string{
		"cluster-ip h1/c1 h2/c1 198.51.100.1", "container-to-node-port h1/c1 h2/c1 192.0.2.2", "hairpin h1/c1 h1/c1 198.51.100.2",
		"host-to-cluster-ip h1 h2/c1 198.51.100.1", "node-port h1 h2/c1 192.0.2.2",
	}, "\n"))
}

// In a namespace that is there, everything goes with one object, and nothing is labelled anew.
func TestGivenNamespaceIsNotChanged(t *testing.T) {
	p := Site{Namespace: "mine"}.plan("x", []corev1.Node{node("a", "")}, "busybox")
	p.ownedBy("uid")
	for _, o := range p.objects() {
		labtest.Equal(t, o.kind.name+" is in", o.namespace, "mine")
		labtest.Equal(t, "it is a namespace", o.kind.name == "namespaces", false)
	}
	for _, pod := range p.pods {
		labtest.Equal(t, "owners of "+pod.Name, len(pod.OwnerReferences), 1)
	}
	for _, rule := range roleOf(p).Rules {
		labtest.Equal(t, "the role is about namespaces", slices.Contains(rule.Resources, "namespaces"), false)
	}
}

// A mesh has one object besides its root, whose pods are on the nodes that were chosen.
func TestFleetIsADaemonSet(t *testing.T) {
	nodes := []corev1.Node{node("a", "z1"), node("b", "z1"), node("c", "z2")}
	for onHosts, level := range map[bool]string{false: restricted, true: privileged} {
		p := Fleet{OnHosts: onHosts}.plan("x", nodes, "busybox")
		objects := p.objects()
		labtest.Equal(t, "objects", len(objects), 2)
		labtest.Equal(t, "level of the namespace", objects[0].body.(*corev1.Namespace).Labels[podSecurity], level)
		spec := p.fleet.Spec.Template.Spec
		labtest.Equal(t, "pods are on their nodes' network", spec.HostNetwork, onHosts)
		if spec.ActiveDeadlineSeconds != nil || spec.RestartPolicy != corev1.RestartPolicyAlways {
			t.Errorf("a DaemonSet takes no pod of deadline %v and restart policy %s", spec.ActiveDeadlineSeconds, spec.RestartPolicy)
		}
		var on []string
		for _, term := range spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
			on = append(on, term.MatchFields[0].Values...)
		}
		labtest.Equal(t, "nodes", strings.Join(on, " "), "a b c")
	}
	var groups []string
	for _, n := range grouped(nodes) {
		groups = append(groups, n.Name+" "+n.Group)
	}
	labtest.Equal(t, "groups", strings.Join(groups, ", "), "a z1, b z1, c z2")
	labtest.Equal(t, "group in a cluster of one zone", grouped(nodes[:2])[0].Group, "")
	text, err := Fleet{}.plan("x", nodes, "busybox").text()
	if err != nil {
		t.Fatal(err)
	}
	labtest.Contains(t, "role and objects", text, "daemonsets")
	labtest.Equal(t, "it makes services", strings.Contains(text, "services"), false)
}
