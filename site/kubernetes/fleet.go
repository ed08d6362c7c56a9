package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tare/result"
	"tare/site"
)

// Fleet is a pod on each node of a cluster, for a mesh. A DaemonSet of the run places them.
type Fleet struct {
	Site
	OnHosts bool // the pods are on the nodes' own networks
	Least   int  // nodes that must take pods
}

// fleetWait is how long the pods of a fleet may take to run. What runs then is measured.
const fleetWait = time.Minute

// Open makes the DaemonSet and waits for its pods. nodes are those that were chosen, in the
// order of their places h1, h2 and so on. Where a pod does not run, its place is missing, and
// Lost says why.
func (f Fleet) Open(ctx context.Context) (way site.Way, nodes []result.MeshNode, err error) {
	c, p, unfit, err := f.prepare(ctx, newRun())
	if err != nil {
		return way, nil, err
	}
	if way, err = c.begin(ctx, &p); err != nil {
		return way, nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, way.Close())
		}
	}()
	for _, why := range unfit {
		way.Lost = append(way.Lost, fmt.Errorf("node %s: it is left out", why))
	}
	pods, err := c.awaitFleet(ctx, p)
	if err != nil {
		return way, nil, err
	}
	var without []error
	for n, node := range p.nodes {
		pod := pods[node.Name]
		if !ready(pod) {
			without = append(without, c.noPod(ctx, p, node.Name, pod))
			continue
		}
		way.Places = append(way.Places, f.place(c, fmt.Sprintf("h%d", n+1), node.Name, pod))
	}
	if len(way.Places) < f.Least && len(without) > 0 {
		return way, nil, fmt.Errorf("pods run on %d of %d nodes, and %d are needed: %w", len(way.Places), len(p.nodes), f.Least, without[0])
	}
	way.Lost = append(way.Lost, without...)
	return way, grouped(p.nodes), nil
}

// Objects are what a mesh would make, as YAML, after the role that allows it. Nothing is made.
func (f Fleet) Objects(ctx context.Context) (string, error) {
	_, p, _, err := f.prepare(ctx, example)
	if err != nil {
		return "", err
	}
	return p.text()
}

// prepare plans what a mesh makes, on nodes that it chooses. unfit says what keeps pods from others.
func (f Fleet) prepare(ctx context.Context, run string) (c *cluster, p plan, unfit []string, err error) {
	if c, err = f.connect(); err != nil {
		return nil, p, nil, err
	}
	chosen, unfit, err := f.fit(ctx, c)
	if err != nil {
		return nil, p, nil, err
	}
	if len(chosen) < f.Least {
		return nil, p, nil, &site.ChoiceError{Text: fmt.Sprintf("%d nodes take pods (%s), and %d are needed: %s", len(chosen), names(chosen), f.Least, moreNodes(unfit))}
	}
	image, err := f.imageOf(chosen)
	if err != nil {
		return nil, p, nil, err
	}
	return c, f.plan(run, chosen, image), unfit, nil
}

// moreNodes says how more nodes take pods.
func moreNodes(unfit []string) string {
	if len(unfit) == 0 {
		return "name more, or choose fewer labels"
	}
	return strings.Join(unfit, "; ")
}

// grouped are the nodes as a mesh has them. Those of several zones are in groups.
func grouped(chosen []corev1.Node) (nodes []result.MeshNode) {
	var zones []string
	for _, n := range chosen {
		zones = result.AddOnce(zones, n.Labels[corev1.LabelTopologyZone])
	}
	for _, n := range chosen {
		node := result.MeshNode{Name: n.Name}
		if len(zones) > 1 {
			node.Group = n.Labels[corev1.LabelTopologyZone]
		}
		nodes = append(nodes, node)
	}
	return nodes
}

// plan plans a DaemonSet.
func (f Fleet) plan(run string, nodes []corev1.Node, image string) plan {
	p := plan{run: run, own: f.Namespace == "", given: f.Namespace, nodes: nodes, image: f.imageFact(image), level: restricted}
	if f.OnHosts {
		p.level = privileged
	}
	spec := f.podSpec(f.OnHosts, f.container(image, fleetIdle))
	spec.RestartPolicy, spec.ActiveDeadlineSeconds = corev1.RestartPolicyAlways, nil // as a DaemonSet asks
	spec.Affinity = on(nodes...)
	p.fleet = &appsv1.DaemonSet{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"}, ObjectMeta: p.named(p.namespace(), "tare-"+run)}
	p.fleet.Spec = appsv1.DaemonSetSpec{
		Selector: &metav1.LabelSelector{MatchLabels: p.fleet.Labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: p.fleet.Labels}, Spec: spec},
	}
	return p
}

// awaitFleet waits until the pod of each node runs or can't, and gives them by node.
func (c *cluster) awaitFleet(ctx context.Context, p plan) (byNode map[string]corev1.Pod, err error) {
	for begun := time.Now(); ; {
		pods, err := list[corev1.Pod](ctx, c, core("pods"), p.namespace(), runLabel+"="+p.run)
		if err != nil {
			return nil, err
		}
		byNode = map[string]corev1.Pod{}
		settled := 0
		for _, pod := range pods {
			if pod.DeletionTimestamp != nil {
				continue
			}
			byNode[meantFor(pod)] = pod
			if ready(pod) || stuckOf(pod) != "" {
				settled++
			}
		}
		if settled == len(p.nodes) || time.Since(begun) > fleetWait {
			return byNode, nil
		}
		if err := pause(ctx); err != nil {
			return nil, err
		}
	}
}

// meantFor is the node of a DaemonSet's pod, also before it is there.
func meantFor(pod corev1.Pod) string {
	if pod.Spec.NodeName != "" || pod.Spec.Affinity == nil || pod.Spec.Affinity.NodeAffinity == nil {
		return pod.Spec.NodeName
	}
	for _, term := range pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		for _, field := range term.MatchFields {
			return field.Values[0]
		}
	}
	return ""
}

// ready reports whether a pod's container runs.
func ready(pod corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodRunning && slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool { return s.State.Running != nil })
}

// noPod says why no pod runs on a node. Why there is none at all, the DaemonSet's events say.
func (c *cluster) noPod(ctx context.Context, p plan, node string, pod corev1.Pod) error {
	if pod.Name == "" {
		pod.ObjectMeta = p.fleet.ObjectMeta
	}
	return fmt.Errorf("node %s: no pod runs there: %s%s", node, c.why(ctx, pod), hintOf(stuckOf(pod), p.fleet.Spec.Template.Spec))
}
