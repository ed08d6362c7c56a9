package kubernetes

import (
	"context"
	"fmt"

	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tare/catalog"
	"tare/site"
)

// closedPlace is the place whose pod a policy closes until that was tried. The cluster has the
// policy before the pod, so that what enforces policies has done so when the pod runs.
const closedPlace = "h1/c2"

// policy admits to some pods of a run what rules say, and nothing else.
func (p plan) policy(name string, of metav1.LabelSelector, rules ...networkingv1.NetworkPolicyIngressRule) *networkingv1.NetworkPolicy {
	return &networkingv1.NetworkPolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "NetworkPolicy"},
		ObjectMeta: p.named(p.namespace(), fmt.Sprintf("tare-%s-%s", p.run, name)),
		Spec:       networkingv1.NetworkPolicySpec{PodSelector: of, PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}, Ingress: rules},
	}
}

// those are the run's pods at some places, or with what else an operator says of their label.
func (p plan) those(are metav1.LabelSelectorOperator, places ...string) metav1.LabelSelector {
	return metav1.LabelSelector{
		MatchLabels:      map[string]string{runLabel: p.run},
		MatchExpressions: []metav1.LabelSelectorRequirement{{Key: placeLabel, Operator: are, Values: places}},
	}
}

// close plans what closes the way to a pod, and what opens it again where policies of a load
// close it too.
func (p *plan) close() {
	of := p.those(metav1.LabelSelectorOpIn, labelOf(closedPlace))
	p.closed = p.policy("closed", of)
	if p.has.Policies > 0 {
		p.opened = p.policy("opened", of, networkingv1.NetworkPolicyIngressRule{})
	}
}

// closedWay is the way that a plan's policy closes.
func (c *cluster) closedWay(p plan) *site.Closed {
	if p.closed == nil {
		return nil
	}
	return &site.Closed{
		What: "network policies", Network: catalog.Pods, From: "h1/c1", To: closedPlace,
		Open: func(ctx context.Context) error {
			if p.opened != nil {
				if err := c.create(ctx, object{policies(), p.opened.Namespace, p.opened}); err != nil {
					return c.explain("make network policy "+p.opened.Name, err)
				}
			}
			err := c.of(policies(), p.closed.Namespace).Delete(ctx, p.closed.Name, metav1.DeleteOptions{})
			if err == nil || apierrors.IsNotFound(err) {
				return nil
			}
			return c.explain("remove network policy "+p.closed.Name, err)
		},
	}
}
