package kubernetes

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// lives is what a pod does: it waits as long as a tare that was sent into it runs there, so that
// it ends soon after the run, whatever became of the other side. The kernel calls that process
// by its file (comm, proc(5)).
const lives = `idle=0; while [ $idle -lt %d ]; do sleep %.0f; idle=$((idle+1)); for p in /proc/[0-9]*/comm; do ` +
	`name=; { read -r name <"$p"; } 2>/dev/null; case $name in .tare-*) idle=0;; esac; done; done`

// container is that of each pod: without capabilities, without privilege, with a read-only root.
// It ends when no tare has run in it for so long.
func (s Site) container(image string, idle time.Duration) corev1.Container {
	no, yes := false, true
	c := corev1.Container{
		Name: containerName, Image: image, ImagePullPolicy: corev1.PullNever, Command: []string{"sh", "-c", fmt.Sprintf(lives, idle/lookEvery, lookEvery.Seconds())},
		Env:          []corev1.EnvVar{{Name: "XDG_RUNTIME_DIR", Value: stageFolder}},
		VolumeMounts: []corev1.VolumeMount{{Name: "stage", MountPath: stageFolder}},
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("50m"), corev1.ResourceMemory: resource.MustParse("64Mi")},
			Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")},
		},
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: &no, ReadOnlyRootFilesystem: &yes,
			Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		},
	}
	if s.Image != "" {
		c.ImagePullPolicy, c.Command = corev1.PullIfNotPresent, []string{inImage, WaitVerb, idle.String()}
	}
	return c
}
