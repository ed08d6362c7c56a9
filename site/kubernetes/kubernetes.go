// Package kubernetes is the site whose places are pods of a cluster, as the user's kubeconfig
// reaches it. A run makes what it needs and removes it: namespaces of the run's own, a pod at
// each place, services. Nothing is pulled and nothing is installed: a pod has an image that its
// node has already, and tare is sent into it.
package kubernetes

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"tare/catalog"
	"tare/result"
	"tare/site"
)

// Site is a cluster, and which of its nodes are measured.
type Site struct {
	Context     string   // of the kubeconfig; empty: the current one
	Namespace   string   // that is there, for the pods; empty: the run makes its own
	Nodes       []string // one or two; empty: two that are alike
	Selector    string   // of the nodes to choose from, as kubectl takes it
	Tolerations []string // of the pods: KEY, KEY=VALUE or KEY=VALUE:EFFECT
	Image       string   // that holds tare (tare image); empty: one that the nodes have
	Load        Load     // that the cluster has besides
	ProbeNodes  bool     // the pods on the nodes' own networks are root's and privileged, so that they see packets and rules of the node
}

const (
	// readyWait is how long pods may take to run, with no image to pull.
	readyWait = time.Minute
	// Deadline is the longest that pods run, and so a run.
	Deadline = 4 * time.Hour
	// runIdle and fleetIdle are how long a pod waits for tare before it ends. Those of a mesh wait
	// longer: nothing is sent to any until all run, or some have not for fleetWait.
	runIdle, fleetIdle = time.Minute, 2 * time.Minute
	// removeWait is how long the cluster may take to remove what a run made.
	removeWait = time.Minute
)

// Open finds the nodes, makes the pods and services, and waits until the pods run. Where the
// cluster allows no pod on a node's own network, it goes on without hosts.
func (s Site) Open(ctx context.Context) (_ site.Way, err error) {
	c, p, err := s.prepare(ctx, newRun())
	if err != nil {
		return site.Way{}, err
	}
	way, err := c.begin(ctx, &p)
	if err != nil {
		return way, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, way.Close())
		}
	}()
	if err := c.awaitPods(ctx, p); err != nil {
		return way, err
	}
	if err := c.awaitLoad(ctx, p); err != nil {
		return way, err
	}
	way.Closed, way.Settles = c.closedWay(p), time.Duration(p.has.Services)*time.Second/servicesASecond
	way.Partial = len(way.Lost) > 0
	for _, pod := range p.pods {
		name := pod.Annotations[placeNote]
		way.Places = append(way.Places, s.place(c, name, p.hostOf(name).Name, pod))
	}
	way.Frontends, err = p.frontends()
	return way, err
}

// prepare plans what a run makes, on nodes that it chooses.
func (s Site) prepare(ctx context.Context, run string) (*cluster, plan, error) {
	c, err := s.connect()
	if err != nil {
		return nil, plan{}, err
	}
	nodes, err := s.choose(ctx, c)
	if err != nil {
		return nil, plan{}, err
	}
	image, err := s.imageOf(nodes)
	return c, s.plan(run, nodes, image), err
}

// example is the name of a run that is only shown.
const example = "example"

// newRun is the name of a run, as those of objects may be.
func newRun() string { return strings.ToLower(rand.Text()[:10]) }

// begin makes what was planned, if the user may, and removes it again if that fails.
func (c *cluster) begin(ctx context.Context, p *plan) (site.Way, error) {
	if err := c.allowed(ctx, *p); err != nil {
		return site.Way{}, err
	}
	way := site.Way{Site: result.SiteKubernetes, Close: func() error { return c.remove(context.WithoutCancel(ctx), rootKind(p.given), p.given, p.run) }}
	way.Facts = c.facts(ctx, *p)
	var err error
	if way.Lost, err = c.make(ctx, p); err != nil {
		return way, errors.Join(err, way.Close())
	}
	return way, nil
}

// place is a pod on a node as a place.
func (s Site) place(c *cluster, name, node string, pod corev1.Pod) site.Far {
	far := site.Far{Name: name, Machine: node, Network: catalog.Pods, Shown: "kubectl exec -i -n " + pod.Namespace + " " + pod.Name + " --"}
	if s.Image == "" {
		far.Carry = c.carrier(pod.Namespace, pod.Name)
	} else {
		far.Carry, far.Direct = c.carrier(pod.Namespace, pod.Name, inImage, site.OutpostVerb), true
	}
	return far
}

// Objects are what a run would make, as YAML, after the role that allows it. Nothing is made.
func (s Site) Objects(ctx context.Context) (string, error) {
	_, p, err := s.prepare(ctx, example)
	if err != nil {
		return "", err
	}
	return p.text()
}

// text is the role that a plan needs, and what it makes, as YAML.
func (p plan) text() (string, error) {
	documents := []any{roleOf(p)}
	for _, o := range p.objects() {
		documents = append(documents, o.body)
	}
	text, err := asYAML(documents)
	if err != nil {
		return "", fmt.Errorf("write the objects of a run as YAML: %w", err)
	}
	return text, nil
}
