package kubernetes

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"tare/catalog"
	"tare/result"
	"tare/site"
)

const (
	// firstNodePort and mostNodePorts are the ports that services of nodes have by default
	// (--service-node-port-range).
	firstNodePort, mostNodePorts = 30000, 2768
	// portTries is how many of them are tried.
	portTries = 20
	// accountWait is how long a new namespace may take to have its service account, without which
	// it takes no pod.
	accountWait = 15 * time.Second
	pollEvery   = 200 * time.Millisecond
)

// make makes everything. lost is why there are no hosts, where the cluster does not allow
// them: then the plan has none.
func (c *cluster) make(ctx context.Context, p *plan) (lost []error, err error) {
	for _, root := range p.roots() {
		if err := c.create(ctx, root); err != nil {
			return lost, c.explain("make "+root.kind.name, err)
		}
		if of, isObject := root.body.(*corev1.ConfigMap); isObject {
			p.ownedBy(of.UID)
		}
	}
	if p.closed != nil {
		if err := c.create(ctx, object{policies(), p.closed.Namespace, p.closed}); err != nil {
			return lost, c.explain("make network policy "+p.closed.Name, err)
		}
	}
	if lost, err = c.makePods(ctx, p); err != nil {
		return lost, err
	}
	if err := c.makeLoad(ctx, *p); err != nil {
		return lost, err
	}
	for n := range p.services {
		if err := c.makeService(ctx, &p.services[n]); err != nil {
			return lost, c.explain("make service "+p.services[n].Name, err)
		}
	}
	if p.fleet != nil {
		if err := c.create(ctx, object{daemonSets(), p.fleet.Namespace, p.fleet}); err != nil {
			return lost, c.explain("make DaemonSet "+p.fleet.Name, err)
		}
	}
	return lost, nil
}

// makePods makes those of a plan, which has none on the nodes' own networks after that where the
// cluster allows none.
func (c *cluster) makePods(ctx context.Context, p *plan) (lost []error, err error) {
	var pods []corev1.Pod
	for _, pod := range p.pods {
		err := c.makePod(ctx, pod)
		switch {
		case apierrors.IsForbidden(err) && pod.Spec.HostNetwork:
			lost = []error{fmt.Errorf("no host baseline: the cluster allows no pod on a node's own network: %w", err)}
			continue
		case err != nil:
			return lost, c.explain("make pod "+pod.Name, err)
		}
		pods = append(pods, pod)
	}
	p.pods = pods
	return lost, nil
}

// makePod waits for the namespace's service account.
func (c *cluster) makePod(ctx context.Context, pod corev1.Pod) error {
	for begun := time.Now(); ; {
		err := c.create(ctx, object{core("pods"), pod.Namespace, &pod})
		early := apierrors.IsForbidden(err) && strings.Contains(err.Error(), "serviceaccount")
		if !early || time.Since(begun) > accountWait {
			return err
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

// makeService tries ports until two in a row are free at all nodes.
func (c *cluster) makeService(ctx context.Context, service *corev1.Service) (err error) {
	for range portTries {
		setPorts(service, firstNodePort+rand.Int32N(mostNodePorts-1))
		if err = c.create(ctx, object{core("services"), service.Namespace, service}); !apierrors.IsInvalid(err) {
			return err
		}
	}
	return err
}

func pause(ctx context.Context) error {
	select {
	case <-time.After(pollEvery):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// hopeless are the reasons of a container that waits which do not pass by waiting.
var hopeless = []string{
	"ErrImageNeverPull", "ErrImagePull", "ImagePullBackOff", "InvalidImageName", "CreateContainerConfigError", "CreateContainerError", "RunContainerError", "CrashLoopBackOff",
}

// awaitPods waits until all pods run, or one can't.
func (c *cluster) awaitPods(ctx context.Context, p plan) error {
	late, cancel := context.WithTimeout(ctx, readyWait)
	defer cancel()
	for {
		waiting, err := c.waiting(late, p)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case waiting == nil && (err != nil || late.Err() == nil):
			return err
		}
		if err := pause(late); err != nil && ctx.Err() == nil {
			return fmt.Errorf("pod %s on %s does not run after %s: %s: kubectl describe pod shows more; other nodes: --nodes", waiting.Name, p.hostOf(waiting.Annotations[placeNote]).Name, readyWait, c.why(ctx, *waiting))
		}
	}
}

// waiting is the first pod that does not run yet; an error if one never will.
func (c *cluster) waiting(ctx context.Context, p plan) (first *corev1.Pod, err error) {
	for _, want := range p.pods {
		there, err := list[corev1.Pod](ctx, c, core("pods"), want.Namespace, runLabel+"="+p.run+","+placeLabel+"="+want.Labels[placeLabel])
		switch {
		case err != nil && ctx.Err() == nil:
			return nil, err
		case len(there) == 0:
			if first == nil {
				first = &want
			}
			continue
		}
		pod := there[0]
		ended := pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
		if stuck := stuckOf(pod); ended || stuck != "" {
			return nil, fmt.Errorf("pod %s on %s can't run: %s%s", pod.Name, p.hostOf(pod.Annotations[placeNote]).Name, c.why(ctx, pod), hintOf(stuck, pod.Spec))
		}
		if pod.Status.Phase != corev1.PodRunning && first == nil {
			first = &pod
		}
	}
	return first, nil
}

// stuckOf is the reason of a container that will not start.
func stuckOf(pod corev1.Pod) string {
	for _, s := range pod.Status.ContainerStatuses {
		if s.State.Waiting != nil && slices.Contains(hopeless, s.State.Waiting.Reason) {
			return s.State.Waiting.Reason
		}
	}
	return ""
}

// hintOf says what to do about a pod that can't run.
func hintOf(stuck string, spec corev1.PodSpec) string {
	switch {
	case stuck == "":
		return ": kubectl describe node shows what ends pods there; other nodes: --nodes"
	case spec.Containers[0].ImagePullPolicy == corev1.PullNever:
		return ": give the cluster an image of tare (tare image) and name it with --image"
	}
	return ": look whether its nodes can pull the image that --image names"
}

// why gives the cluster's own words for a pod that does not run.
func (c *cluster) why(ctx context.Context, pod corev1.Pod) string {
	var words []string
	add := func(reason, message string) {
		text := result.Plain(strings.Trim(reason+": "+message, ": "))
		said := result.Plain(cmp.Or(strings.TrimPrefix(message, "Error: "), reason))
		again := slices.ContainsFunc(words, func(before string) bool { // events repeat what the pod's status has
			_, before, _ = strings.Cut(before, ": ")
			return before != "" && strings.Contains(said, before)
		})
		if text != "" && !again && !strings.Contains(strings.Join(words, "; "), said) {
			words = append(words, text)
		}
	}
	add(pod.Status.Reason, pod.Status.Message)
	for _, s := range pod.Status.ContainerStatuses {
		if s.State.Waiting != nil {
			add(s.State.Waiting.Reason, s.State.Waiting.Message)
		}
		if s.State.Terminated != nil {
			add(s.State.Terminated.Reason, s.State.Terminated.Message)
		}
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			add(condition.Reason, condition.Message)
		}
	}
	events, err := list[corev1.Event](ctx, c, core("events"), pod.Namespace, "")
	for _, e := range events {
		if e.InvolvedObject.Name == pod.Name && e.Type == corev1.EventTypeWarning {
			add(e.Reason, e.Message)
		}
	}
	if err != nil {
		add("its events can't be read", err.Error())
	}
	if len(words) == 0 {
		return "the cluster does not say why"
	}
	return strings.Join(words, "; ")
}

// frontends are the addresses of the services.
func (p plan) frontends() (frontends []site.Frontend, err error) {
	for n, service := range p.services {
		at, err := netip.ParseAddr(service.Spec.ClusterIP)
		if err != nil {
			return nil, fmt.Errorf("read the address of service %s: %w: the cluster gave it none", service.Name, err)
		}
		frontend := site.Frontend{Network: catalog.Pods, Path: catalog.Hairpin, From: "h1/c1", To: "h1/c1", At: at, Port: uint16(service.Spec.Ports[0].Port)}
		if n > 0 {
			frontends = append(frontends, frontend)
			continue
		}
		frontend.To, frontend.Path = p.server, catalog.ClusterIP
		fromHost := frontend
		fromHost.From, fromHost.Path = "h1", catalog.HostToClusterIP
		frontends = append(frontends, frontend, fromHost)
		for _, address := range p.hostOf(p.server).Status.Addresses {
			at, err := netip.ParseAddr(address.Address)
			if address.Type != corev1.NodeInternalIP || err != nil {
				continue
			}
			frontend.At, fromHost.At = at, at
			frontend.Path, fromHost.Path = catalog.ContainerToNodePort, catalog.NodePort
			frontends = append(frontends, frontend, fromHost)
			break
		}
	}
	return frontends, nil
}
