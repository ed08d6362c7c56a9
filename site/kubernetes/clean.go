package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tare/site"
)

// root is what everything of a run goes with.
type root struct {
	kind      kind
	namespace string
	name      string
	run       string
}

// roots are those that are there: of a run; empty: of all.
func (c *cluster) roots(ctx context.Context, k kind, namespace, run string) ([]root, error) {
	label := runLabel
	if run != "" {
		label += "=" + run
	}
	there, err := list[metav1.PartialObjectMetadata](ctx, c, k, namespace, label)
	var all []root
	for _, one := range there {
		all = append(all, root{k, namespace, one.Name, one.Labels[runLabel]})
	}
	return all, err
}

// remove removes a run's roots, and waits until they are gone with all that they hold.
func (c *cluster) remove(ctx context.Context, k kind, namespace, run string) error {
	late, cancel := context.WithTimeout(ctx, removeWait)
	defer cancel()
	err := c.removing(late, k, namespace, run)
	if err != nil {
		err = fmt.Errorf("remove what this run made there: %w; once the cluster answers: tare clean --site kubernetes", err)
	}
	return err
}

func (c *cluster) removing(ctx context.Context, k kind, namespace, run string) error {
	for {
		left, err := c.roots(ctx, k, namespace, run)
		if err == nil && len(left) == 0 && namespace != "" { // its pods go after it
			left, err = c.roots(ctx, core("pods"), namespace, run)
		}
		if err != nil || len(left) == 0 {
			return err
		}
		for _, r := range left {
			if r.kind != k { // the cluster removes it by itself, and this user may not
				continue
			}
			if err := c.delete(ctx, r); err != nil {
				return err
			}
		}
		if pause(ctx) != nil {
			return fmt.Errorf("%s %s is there still after %s", left[0].kind.name, left[0].name, removeWait)
		}
	}
}

// delete has the cluster remove a root, after what it holds.
func (c *cluster) delete(ctx context.Context, r root) error {
	first := metav1.DeletePropagationForeground
	err := c.of(r.kind, r.namespace).Delete(ctx, r.name, metav1.DeleteOptions{PropagationPolicy: &first})
	if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) { // it goes already
		return nil
	}
	return c.explain("remove "+r.kind.name+" "+r.name, err)
}

// Clean removes what runs left that have ended. A run that goes on has a pod that runs.
func (s Site) Clean(ctx context.Context, dry bool, name func(site.Leftover)) error {
	c, err := s.connect()
	if err != nil {
		return err
	}
	k := rootKind(s.Namespace)
	there, err := c.roots(ctx, k, s.Namespace, "")
	if err != nil {
		return err
	}
	var errs []error
	for _, r := range there {
		goesOn, err := c.goesOn(ctx, s.Namespace, r.run)
		if err != nil || goesOn {
			errs = append(errs, err)
			continue
		}
		name(site.Leftover{Where: c.config.Host, What: fmt.Sprintf("%s %s of run %s", strings.TrimSuffix(r.kind.name, "s"), r.name, r.run)})
		if !dry {
			errs = append(errs, c.remove(ctx, k, s.Namespace, r.run))
		}
	}
	return errors.Join(errs...)
}

// rootKind is the kind of the roots of runs: namespaces, or where one is given objects in it.
func rootKind(given string) kind {
	if given == "" {
		return core("namespaces")
	}
	return core("configmaps")
}

// goesOn reports whether a pod of a run still runs.
func (c *cluster) goesOn(ctx context.Context, namespace, run string) (bool, error) {
	pods, err := list[corev1.Pod](ctx, c, core("pods"), namespace, runLabel+"="+run+",!"+loadLabel)
	for _, pod := range pods {
		young := pod.Status.Phase == corev1.PodPending && time.Since(pod.CreationTimestamp.Time) < readyWait
		// The pods of a DaemonSet are started again when they have ended, for ever.
		again := slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool { return s.RestartCount > 0 })
		if (pod.Status.Phase == corev1.PodRunning && !again || young) && pod.DeletionTimestamp == nil {
			return true, err
		}
	}
	return false, err
}
