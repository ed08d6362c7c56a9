package kubernetes

import (
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tare/site"
)

const (
	// cronName is that of what a cluster needs to run a mesh by itself.
	cronName = "tare-mesh"
	day      = 24 * time.Hour
)

// Cron is what has a cluster run a mesh again and again by itself, as YAML: nothing is made. A
// pod runs words, which begin with the verb; its log is what that prints. It needs an image of
// tare.
func (f Fleet) Cron(every time.Duration, words []string) (string, error) {
	schedule, err := scheduleOf(every)
	switch {
	case err != nil:
		return "", err
	case f.Image == "":
		return "", &site.ChoiceError{Text: "--every: the cluster starts tare by itself, which needs an image of it: send one to a registry (tare image --push), and name it with --image"}
	}
	own := f.Namespace == ""
	if own {
		f.Namespace = cronName
	}
	p := f.plan(example, nil, f.Image)
	var documents []any
	if own {
		space := p.space(f.Namespace, p.level)
		space.Labels = map[string]string{podSecurity: p.level}
		documents = append(documents, space)
	}
	documents = append(documents, f.account(p)...)
	return asYAML(append(documents, f.cronJob(schedule, append(words, "--namespace", f.Namespace))))
}

// scheduleOf is a time between runs as cron has it: whole parts of an hour or of a day.
func scheduleOf(every time.Duration) (string, error) {
	switch {
	case every == day:
		return "0 0 * * *", nil
	case every >= time.Hour && every < day && day%every == 0 && every%time.Hour == 0:
		return fmt.Sprintf("0 */%d * * *", every/time.Hour), nil
	case every >= time.Minute && every < time.Hour && time.Hour%every == 0 && every%time.Minute == 0:
		return fmt.Sprintf("*/%d * * * *", every/time.Minute), nil
	}
	return "", &site.ChoiceError{Text: fmt.Sprintf("--every %s: a CronJob divides an hour into whole minutes, or a day into whole hours: take 5m, 10m, 30m, 1h, 6h or 24h", every)}
}

// account is a service account that may do what a mesh does in one namespace, and list nodes.
func (f Fleet) account(p plan) []any {
	meta := metav1.ObjectMeta{Name: cronName, Namespace: f.Namespace}
	whole := roleOf(p)
	whole.Name, whole.Rules = cronName, nil
	role := rbacv1.Role{TypeMeta: metav1.TypeMeta{APIVersion: whole.APIVersion, Kind: "Role"}, ObjectMeta: meta}
	for _, r := range p.rights() {
		into := &role.Rules
		if r.whole {
			into = &whole.Rules
		}
		*into = append(*into, r.rule())
	}
	subjects := []rbacv1.Subject{{Kind: "ServiceAccount", Name: cronName, Namespace: f.Namespace}}
	const group = "rbac.authorization.k8s.io"
	return []any{
		corev1.ServiceAccount{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"}, ObjectMeta: meta},
		whole, rbacv1.ClusterRoleBinding{
			TypeMeta: metav1.TypeMeta{APIVersion: whole.APIVersion, Kind: "ClusterRoleBinding"}, ObjectMeta: metav1.ObjectMeta{Name: cronName},
			Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: group, Kind: "ClusterRole", Name: cronName},
		},
		role, rbacv1.RoleBinding{
			TypeMeta: metav1.TypeMeta{APIVersion: whole.APIVersion, Kind: "RoleBinding"}, ObjectMeta: meta,
			Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: group, Kind: "Role", Name: cronName},
		},
	}
}

// cronJob starts a mesh, never two at the same time. One that fails is not tried again before
// its next turn.
func (f Fleet) cronJob(schedule string, words []string) batchv1.CronJob {
	container := f.container(f.Image, 0)
	container.Command = slices.Concat([]string{inImage}, words)
	spec, yes, never := f.podSpec(false, container), true, int32(0)
	spec.AutomountServiceAccountToken, spec.ServiceAccountName = &yes, cronName
	job := batchv1.CronJob{TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: "CronJob"}, ObjectMeta: metav1.ObjectMeta{Name: cronName, Namespace: f.Namespace}}
	job.Spec = batchv1.CronJobSpec{
		Schedule: schedule, ConcurrencyPolicy: batchv1.ForbidConcurrent,
		JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{BackoffLimit: &never, Template: corev1.PodTemplateSpec{Spec: spec}}},
	}
	return job
}
