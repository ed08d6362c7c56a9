package kubernetes

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tare/result"
	"tare/test/labtest"
)

// node is a ready one in a zone.
func node(name, zone string, images ...string) corev1.Node {
	n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelTopologyZone: zone}}}
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	n.Status.Images = []corev1.ContainerImage{{Names: images}}
	return n
}

func TestNodesThatAreAlikeAreTaken(t *testing.T) {
	for want, nodes := range map[string][]corev1.Node{
		"a c": {node("a", "z1"), node("b", "z2"), node("c", "z1")},
		"a b": {node("a", "z1"), node("b", "z2"), node("c", "z3")},
		"a":   {node("a", "z1")},
	} {
		got := likeEachOther(nodes)
		labtest.Equal(t, "nodes", strings.Join(result.Names(got, func(n corev1.Node) string { return n.Name }), " "), want)
	}
}

func TestNodeSaysWhyItTakesNoPod(t *testing.T) {
	lost, cordoned, windows, tainted, preferred := node("a", ""), node("a", ""), node("a", ""), node("a", ""), node("a", "")
	lost.Status.Conditions[0] = corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, Message: "Kubelet stopped posting node status."}
	cordoned.Spec.Unschedulable = true
	windows.Labels[corev1.LabelOSStable] = "windows"
	tainted.Spec.Taints = []corev1.Taint{{Key: "gpu", Value: "yes", Effect: corev1.TaintEffectNoSchedule}}
	preferred.Spec.Taints = []corev1.Taint{{Key: "gpu", Effect: corev1.TaintEffectPreferNoSchedule}}
	for _, c := range []struct {
		node      corev1.Node
		tolerated string
		want      string
	}{
		{node("a", ""), "", ""},
		{lost, "", "is not ready (Kubelet stopped posting node status.)"},
		{cordoned, "", "is cordoned"},
		{windows, "", "runs windows"},
		{tainted, "", "has the taint gpu=yes:NoSchedule (--tolerations gpu allows it)"},
		{tainted, "gpu", ""},
		{tainted, "gpu=yes:NoSchedule", ""},
		{tainted, "gpu=no", "has the taint gpu=yes:NoSchedule (--tolerations gpu allows it)"},
		{tainted, "gpu:NoExecute", "has the taint gpu=yes:NoSchedule (--tolerations gpu allows it)"},
		{preferred, "", ""},
	} {
		s := Site{}
		if c.tolerated != "" {
			s.Tolerations = []string{c.tolerated}
		}
		labtest.Equal(t, "why with --tolerations "+c.tolerated, s.unfit(c.node), c.want)
	}
}

func TestImageIsOneThatAllNodesHave(t *testing.T) {
	proxy, alpine, own := "registry.example/kube-proxy:v1.36.3", "docker.example/alpine:3", "docker.example/own:1"
	for _, c := range []struct {
		nodes []corev1.Node
		want  string // part of an error, if it is no image
	}{
		{[]corev1.Node{node("a", "", alpine, proxy), node("b", "", proxy, alpine)}, proxy},
		{[]corev1.Node{node("a", "", alpine, proxy), node("b", "", alpine)}, alpine},
		{[]corev1.Node{node("a", "", proxy+"@sha256:1", own), node("b", "", proxy+"@sha256:1", own)}, "on a, b already"},
		{[]corev1.Node{node("a", "", proxy), node("b", "")}, "name it with --image"},
	} {
		got, err := Site{}.imageOf(c.nodes)
		if err != nil {
			got = err.Error()
		}
		labtest.Contains(t, "image", got, c.want)
	}
	got, err := Site{Image: own}.imageOf([]corev1.Node{node("a", "")})
	if got != own || err != nil {
		t.Errorf("the image that was named: %q, %v", got, err)
	}
}
