package kubernetes

import (
	"context"

	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tare/network"
	"tare/site"
)

// closing is a policy that admits nothing to the pod at a place. The cluster has it before the
// pod, so that an engine that enforces policies has done so when the pod runs.
func (p plan) closing(place string) *networkingv1.NetworkPolicy {
	return p.policy("closed", map[string]string{runLabel: p.run, placeLabel: labelOf(place)})
}

// closedWay is the way that a plan's policy closes.
func (c *cluster) closedWay(p plan) *site.Closed {
	if p.closed == nil {
		return nil
	}
	return &site.Closed{
		What: "network policies", Network: network.Pods, From: "h1/c1", To: "h1/c2",
		Open: func(ctx context.Context) error {
			err := c.of(policies(), p.closed.Namespace).Delete(ctx, p.closed.Name, metav1.DeleteOptions{})
			if err == nil || apierrors.IsNotFound(err) {
				return nil
			}
			return c.explain("remove network policy "+p.closed.Name, err)
		},
	}
}
