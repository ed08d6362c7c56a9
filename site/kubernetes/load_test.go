package kubernetes

import (
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tare/test/labtest"
)

// A load closes no way for long: one of its policies admits everything, and another does so to the
// pod that is closed first.
func TestLoadIsMadeAndClosesNothing(t *testing.T) {
	s := Site{Namespace: "mine", Load: Load{Services: 3, Policies: 300, Pods: 7}}
	p := s.plan("x", []corev1.Node{node("a", ""), node("b", "")}, "busybox")
	count, from := map[string]int{}, map[string]bool{}
	for _, o := range p.load {
		count[o.kind.name]++
		switch of := o.body.(type) {
		case *networkingv1.NetworkPolicy:
			rule := of.Spec.Ingress[0]
			labtest.Equal(t, of.Name+" admits everything", len(rule.From) == 0, count[o.kind.name] == 1)
			labtest.Equal(t, of.Name+" is about the pod that is closed first", of.Spec.PodSelector.MatchExpressions[0].Operator == metav1.LabelSelectorOpExists, count[o.kind.name] > 1)
			for _, peer := range rule.From {
				from[peer.IPBlock.CIDR] = true
			}
		case *appsv1.ReplicaSet:
			labtest.Equal(t, "pods", *of.Spec.Replicas, int32(7))
			_, ofRun := of.Spec.Template.Labels[runLabel]
			_, place := of.Spec.Template.Labels[placeLabel]
			labtest.Equal(t, "its pods are the run's", ofRun, true)
			labtest.Equal(t, "its pods are behind a Service", place, false)
		case *corev1.Service:
			labtest.Equal(t, "server of "+of.Name, of.Spec.Selector[placeLabel], "h2-c1")
		}
	}
	labtest.Equal(t, "services", count["services"], 3)
	labtest.Equal(t, "policies", count["networkpolicies"], 300)
	labtest.Equal(t, "addresses that policies admit", len(from), 299)
	labtest.Equal(t, "what opens the pod again admits everything", len(p.opened.Spec.Ingress), 1)
	p.ownedBy("uid")
	for _, o := range p.load {
		labtest.Equal(t, "owners of "+o.body.GetName(), len(o.body.GetOwnerReferences()), 1)
	}
	labtest.Equal(t, "fact", p.has.text(), "3 Services, 300 NetworkPolicies about the measured pods, 7 pods on their nodes")
	labtest.Equal(t, "fact without one", Load{}.text(), "")
	labtest.Equal(t, "rights for pods of a load alone", len(p.rights()), len(Site{Namespace: "mine"}.plan("x", p.nodes, "busybox").rights())+1)
}

// The policy that closes a way is there before the pods, and closes that one only.
func TestOneWayIsClosedFirst(t *testing.T) {
	objects := Site{}.plan("x", []corev1.Node{node("a", ""), node("b", "")}, "busybox").objects()
	labtest.Equal(t, "third object", objects[2].kind.name, "networkpolicies")
	spec := objects[2].body.(*networkingv1.NetworkPolicy).Spec
	labtest.Equal(t, "it is about", spec.PodSelector.MatchExpressions[0].Values[0], "h1-c2")
	labtest.Equal(t, "it admits", len(spec.Ingress), 0)
}

func TestClusterRunsAMeshByItself(t *testing.T) {
	text, err := Fleet{Site: Site{Image: "r/tare:1"}}.Cron(600e9, []string{"mesh", "--blocks=2"})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"schedule: '*/10 * * * *'", "concurrencyPolicy: Forbid", "- --blocks=2", "serviceAccountName: tare-mesh", "automountServiceAccountToken: true"} {
		labtest.Contains(t, "YAML", text, want)
	}
	labtest.Equal(t, "it may make namespaces", strings.Contains(text, "- namespaces"), false)
	for every, want := range map[string]string{"1h": "0 */1 * * *", "6h": "0 */6 * * *", "24h": "0 0 * * *", "1m": "*/1 * * * *"} {
		got, err := scheduleOf(duration(t, every))
		labtest.Equal(t, every, got, want)
		if err != nil {
			t.Error(err)
		}
	}
	for _, every := range []string{"7m", "90m", "30s", "48h", "-1h", "5h"} {
		if got, err := scheduleOf(duration(t, every)); err == nil {
			t.Errorf("%s is %q", every, got)
		}
	}
	if _, err := (Fleet{}).Cron(600e9, nil); err == nil || !strings.Contains(err.Error(), "tare image --push") {
		t.Errorf("without an image: %v", err)
	}
}

func duration(t *testing.T, text string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
