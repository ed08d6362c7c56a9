package kubernetes

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"tare/lab"
	"tare/site"
)

// inImage is tare in an image of tare image.
const inImage = lab.SelfInImage

// withShell are parts of the names of public images that have sh, cat, chmod, rm and sleep, those first
// that most clusters have: kube-proxy's base (kubernetes/release, images/build/distroless-iptables)
// has dash and those.
var withShell = []string{"busybox", "kube-proxy", "alpine", "debian", "ubuntu", "flannel", "kindnetd", "cilium", "calico/node", "kube-router", "weave"}

// imageOf is an image that all of the nodes have, as they say (node.status.images, of which there
// are 50 at most).
func (s Site) imageOf(nodes []corev1.Node) (string, error) {
	if s.Image != "" {
		return s.Image, nil
	}
	var everywhere []string
	for _, image := range nodes[0].Status.Images {
		for _, name := range image.Names {
			if !strings.Contains(name, "@") && !slices.ContainsFunc(nodes, func(n corev1.Node) bool { return !has(n, name) }) {
				everywhere = append(everywhere, name)
			}
		}
	}
	for _, part := range withShell {
		for _, name := range everywhere {
			if strings.Contains(name, part) {
				return name, nil
			}
		}
	}
	return "", &site.ChoiceError{Text: fmt.Sprintf("no image that is known to have a shell is on %s already: give the cluster an image of tare (tare image) and name it with --image", names(nodes))}
}

// imageFact is an image, with where it comes from.
func (s Site) imageFact(image string) string {
	if s.Image != "" {
		return image + ", which --image names"
	}
	return image + ", which the nodes have"
}

// has reports whether a node has an image.
func has(n corev1.Node, name string) bool {
	return slices.ContainsFunc(n.Status.Images, func(i corev1.ContainerImage) bool { return slices.Contains(i.Names, name) })
}
