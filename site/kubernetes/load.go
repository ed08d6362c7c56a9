package kubernetes

import (
	"context"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Load is what a cluster has besides while its pods are measured. A run makes it, and removes it.
type Load struct {
	Services int // Services, each with one server
	Policies int // NetworkPolicies about the pods that are measured
	Pods     int // pods that do nothing, on the nodes that are measured
}

const (
	// loadLabel is on the pods of a load.
	loadLabel = "tare.load"
	// atOnce is how many objects of a load are asked for at the same time.
	atOnce = 16
	// podStarts is how long a pod of a load may take to start, after those before it.
	podStarts = time.Second
	// servicesASecond is how many Services get their servers, at the least: the controller manager
	// asks for 20 objects a second (--kube-api-qps), and for a Service it asks once or twice.
	servicesASecond = 10
)

// text is a load as facts have it; empty: there is none.
func (l Load) text() string {
	var parts []string
	for _, of := range []struct {
		n    int
		name string
	}{{l.Services, "Services"}, {l.Policies, "NetworkPolicies about the measured pods"}, {l.Pods, "pods on their nodes"}} {
		if of.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", of.n, of.name))
		}
	}
	return strings.Join(parts, ", ")
}

// loadObjects are the objects of a load.
func (s Site) loadObjects(p plan, image string) (all []object) {
	for n := range s.Load.Policies {
		one := p.admitting(n)
		all = append(all, object{policies(), one.Namespace, one})
	}
	for n := range s.Load.Services {
		one := p.service(fmt.Sprintf("load-%d", n+1), corev1.ServiceTypeClusterIP, p.server)
		one.Spec.Ports = one.Spec.Ports[:1]
		all = append(all, object{core("services"), one.Namespace, &one})
	}
	if s.Load.Pods > 0 {
		one := s.idlePods(p, image)
		all = append(all, object{replicaSets(), one.Namespace, one})
	}
	return all
}

// admitting is the n-th policy of a load. The first admits everything, except to the pod that is
// closed until that was tried, each of the others one address of those that are for benchmarks
// (RFC 2544, appendix C.2.2).
func (p plan) admitting(n int) *networkingv1.NetworkPolicy {
	of, from := p.those(metav1.LabelSelectorOpExists), networkingv1.NetworkPolicyIngressRule{}
	if n == 0 {
		of = p.those(metav1.LabelSelectorOpNotIn, labelOf(closedPlace))
	} else {
		from.From = []networkingv1.NetworkPolicyPeer{{IPBlock: &networkingv1.IPBlock{CIDR: fmt.Sprintf("198.%d.%d.%d/32", 18+n>>16&1, n>>8&255, n&255)}}}
	}
	return p.policy(fmt.Sprintf("load-%d", n+1), of, from)
}

// idlePods are those of a load. They stay until they are removed.
func (s Site) idlePods(p plan, image string) *appsv1.ReplicaSet {
	container := s.container(image, Deadline)
	if s.Image == "" {
		container.Command = []string{"sleep", fmt.Sprintf("%.0f", Deadline.Seconds())} // it looks for nobody: that would be work
	}
	container.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1m"), corev1.ResourceMemory: resource.MustParse("4Mi")}
	spec := s.podSpec(false, container)
	spec.RestartPolicy, spec.ActiveDeadlineSeconds = corev1.RestartPolicyAlways, nil // as a ReplicaSet asks
	spec.Affinity = on(p.nodes...)
	labels, count := map[string]string{runLabel: p.run, loadLabel: "pods"}, int32(s.Load.Pods)
	set := &appsv1.ReplicaSet{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "ReplicaSet"}, ObjectMeta: p.named(p.namespace(), fmt.Sprintf("tare-%s-load", p.run))}
	set.Spec = appsv1.ReplicaSetSpec{
		Replicas: &count, Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: spec},
	}
	return set
}

// makeLoad makes several objects of a load at the same time.
func (c *cluster) makeLoad(ctx context.Context, p plan) error {
	some, ctx := errgroup.WithContext(ctx)
	some.SetLimit(atOnce)
	for _, o := range p.load {
		some.Go(func() error {
			if err := c.create(ctx, o); err != nil {
				return c.explain("make "+o.kind.name+" "+o.body.GetName(), err)
			}
			return nil
		})
	}
	return some.Wait()
}

// awaitLoad waits until the pods of a load run.
func (c *cluster) awaitLoad(ctx context.Context, p plan) error {
	wait := readyWait + time.Duration(p.has.Pods)*podStarts
	for begun := time.Now(); p.has.Pods > 0; {
		sets, err := list[appsv1.ReplicaSet](ctx, c, replicaSets(), p.namespace(), runLabel+"="+p.run)
		switch {
		case err != nil:
			return err
		case len(sets) > 0 && int(sets[0].Status.ReadyReplicas) == p.has.Pods:
			return nil
		case time.Since(begun) > wait:
			return c.lateLoad(ctx, p, wait)
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
	return nil
}

// lateLoad says why not all pods of a load run.
func (c *cluster) lateLoad(ctx context.Context, p plan, after time.Duration) error {
	pods, err := list[corev1.Pod](ctx, c, core("pods"), p.namespace(), runLabel+"="+p.run+","+loadLabel)
	if err != nil {
		return err
	}
	run, why := 0, "the cluster made too few: kubectl describe quota shows what it allows"
	for _, pod := range pods {
		if ready(pod) {
			run++
		} else {
			why = c.why(ctx, pod)
		}
	}
	return fmt.Errorf("%d of the %d pods of the load run after %s: %s: choose fewer with --pods, or other nodes", run, p.has.Pods, after, why)
}
