package kubernetes

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"tare/catalog"
)

const (
	// runLabel is on everything that a run makes. Its value is the run.
	runLabel = "tare.run"
	// placeLabel is on a pod: the name of its place, as a label may be.
	placeLabel = "tare.place"
	// placeNote is on a pod: the name of its place.
	placeNote = "tare.place/name"
	// podSecurity is the label by which a namespace says what pods may do in it
	// (Pod Security Standards).
	podSecurity = "pod-security.kubernetes.io/enforce"
	// containerName is that of the only container of each pod.
	containerName = "tare"
	// nobody is the user of the pods.
	nobody = 65534
	// restricted and privileged are levels of Pod Security.
	restricted, privileged = "restricted", "privileged"
	// stageFolder is an empty volume, into which tare is sent.
	stageFolder = "/tare-stage"
)

// plan is what a run makes in a cluster.
type plan struct {
	run      string
	own      bool   // the namespaces are the run's
	given    string // the namespace, if it is not
	pods     []corev1.Pod
	services []corev1.Service
	// server is the place of the server behind the services.
	server string
	closed *networkingv1.NetworkPolicy // closes the way between two pods until that was tried
	opened *networkingv1.NetworkPolicy // then opens it for those of the load; nil: none is needed
	load   []object                    // is there while the pods are measured
	has    Load                        // what that is
	nodes  []corev1.Node
	image  string            // of all pods, as facts name it
	fleet  *appsv1.DaemonSet // of a mesh, which has none of the above itself
	level  string            // of Pod Security, that a fleet needs
}

// object is one that a run makes.
type object struct {
	kind      kind
	namespace string
	body      metav1.Object
}

// plan plans two pods on the first node and one on the second, and one on the network of each
// node.
func (s Site) plan(run string, nodes []corev1.Node, image string) plan {
	p := plan{run: run, own: s.Namespace == "", given: s.Namespace, nodes: nodes, image: s.imageFact(image), server: "h1/c2"}
	places := []string{"h1", "h1/c1", "h1/c2"}
	if len(nodes) > 1 {
		places, p.server = append(places, "h2", "h2/c1"), "h2/c1"
	}
	for _, place := range places {
		p.pods = append(p.pods, s.pod(p, place, image))
	}
	p.load, p.has = s.loadObjects(p, image), s.Load
	p.close()
	p.services = []corev1.Service{p.service("server", corev1.ServiceTypeNodePort, p.server), p.service("self", corev1.ServiceTypeClusterIP, "h1/c1")}
	return p
}

// namespace is that of the pods.
func (p plan) namespace() string {
	if p.own {
		return "tare-" + p.run
	}
	return p.given
}

// hostNamespace is that of the pods on the nodes' own networks.
func (p plan) hostNamespace() string {
	if p.own {
		return p.namespace() + "-host"
	}
	return p.given
}

// named is what every object of a run has.
func (p plan) named(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: namespace, Labels: map[string]string{runLabel: p.run}}
}

// roots are what everything else goes with: the namespaces of the run, or an object in that
// which was given.
func (p plan) roots() []object {
	if !p.own {
		root := &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: p.named(p.given, "tare-"+p.run)}
		return []object{{core("configmaps"), p.given, root}}
	}
	if p.fleet != nil {
		return []object{{core("namespaces"), "", p.space(p.namespace(), p.level)}}
	}
	return []object{{core("namespaces"), "", p.space(p.namespace(), restricted)}, {core("namespaces"), "", p.space(p.hostNamespace(), privileged)}}
}

// space is a namespace in which pods may do what a level of Pod Security allows.
func (p plan) space(name, level string) *corev1.Namespace {
	space := &corev1.Namespace{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: p.named("", name)}
	space.Labels[podSecurity] = level
	return space
}

// objects are all, in the order in which they are made. What leads to pods comes last: when that
// does, so does the load.
func (p plan) objects() []object {
	all := p.roots()
	if p.closed != nil {
		all = append(all, object{policies(), p.closed.Namespace, p.closed})
	}
	for n := range p.pods {
		all = append(all, object{core("pods"), p.pods[n].Namespace, &p.pods[n]})
	}
	all = append(all, p.load...)
	for n := range p.services {
		all = append(all, object{core("services"), p.services[n].Namespace, &p.services[n]})
	}
	if p.fleet != nil {
		all = append(all, object{daemonSets(), p.fleet.Namespace, p.fleet})
	}
	if p.opened != nil {
		all = append(all, object{policies(), p.opened.Namespace, p.opened})
	}
	return all
}

// ownedBy has objects go with a root.
func (p plan) ownedBy(root types.UID) {
	owner := []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "tare-" + p.run, UID: root}}
	for _, o := range p.objects()[len(p.roots()):] {
		o.body.SetOwnerReferences(owner)
	}
}

// labelOf is a place as a label and a name of an object may be: h1-c1.
func labelOf(place string) string { return strings.ReplaceAll(place, "/", "-") }

// hostOf is the node of a place.
func (p plan) hostOf(place string) corev1.Node {
	if catalog.HostOf(place) == "h2" {
		return p.nodes[1]
	}
	return p.nodes[0]
}

// pod is one at a place. The scheduler places it, so that a node without room says so. It has no
// limit of CPU time: that would be measured.
func (s Site) pod(p plan, place, image string) corev1.Pod {
	namespace, host := p.namespace(), place == catalog.HostOf(place)
	if host {
		namespace = p.hostNamespace()
	}
	pod := corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: p.named(namespace, p.podName(place))}
	pod.Labels[placeLabel], pod.Annotations = labelOf(place), map[string]string{placeNote: place}
	pod.Spec = s.podSpec(host, s.container(image, runIdle))
	pod.Spec.Affinity = on(p.hostOf(place))
	if host && s.ProbeNodes {
		privilege(&pod.Spec)
	}
	return pod
}

// privilege lets a pod load programs of BPF and read the rules of its network: as root of its
// node.
func privilege(spec *corev1.PodSpec) {
	no, yes, root := false, true, int64(0)
	spec.SecurityContext = &corev1.PodSecurityContext{
		RunAsNonRoot: &no, RunAsUser: &root, RunAsGroup: &root,
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeUnconfined},
	}
	spec.Containers[0].SecurityContext = &corev1.SecurityContext{Privileged: &yes, ReadOnlyRootFilesystem: &yes}
}

// podSpec is that of each pod.
func (s Site) podSpec(host bool, container corev1.Container) corev1.PodSpec {
	no, yes, user, seconds, now := false, true, int64(nobody), int64(Deadline.Seconds()), int64(1)
	return corev1.PodSpec{
		HostNetwork: host, RestartPolicy: corev1.RestartPolicyNever, ActiveDeadlineSeconds: &seconds, TerminationGracePeriodSeconds: &now,
		AutomountServiceAccountToken: &no, EnableServiceLinks: &no, Tolerations: s.tolerations(),
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: &yes, RunAsUser: &user, RunAsGroup: &user, FSGroup: &user,
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Volumes:    []corev1.Volume{{Name: "stage", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
		Containers: []corev1.Container{container},
	}
}

// on has a pod be on one of some nodes. A term may name one only.
func on(nodes ...corev1.Node) *corev1.Affinity {
	var terms []corev1.NodeSelectorTerm
	for _, node := range nodes {
		terms = append(terms, corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{{
			Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{node.Name},
		}}})
	}
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms}}}
}

// podName is that of the pod at a place.
func (p plan) podName(place string) string {
	if p.own {
		return labelOf(place)
	}
	return "tare-" + p.run + "-" + labelOf(place)
}

// service leads to the pod at a place. Its ports are chosen when it is made.
func (p plan) service(name string, kind corev1.ServiceType, place string) corev1.Service {
	service := corev1.Service{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Service"}, ObjectMeta: p.named(p.namespace(), fmt.Sprintf("tare-%s-%s", p.run, name))}
	service.Spec = corev1.ServiceSpec{Type: kind, Selector: map[string]string{runLabel: p.run, placeLabel: labelOf(place)}}
	setPorts(&service, firstNodePort)
	return service
}

// setPorts has a service lead from two ports to the same ports of its server.
func setPorts(service *corev1.Service, first int32) {
	service.Spec.Ports = nil
	for port := first; port < first+2; port++ {
		for _, protocol := range []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP} {
			one := corev1.ServicePort{Name: fmt.Sprintf("%s-%d", strings.ToLower(string(protocol)), port), Protocol: protocol, Port: port, TargetPort: intstr.FromInt32(port)}
			if service.Spec.Type == corev1.ServiceTypeNodePort {
				one.NodePort = port
			}
			service.Spec.Ports = append(service.Spec.Ports, one)
		}
	}
}
