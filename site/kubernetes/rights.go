package kubernetes

import (
	"context"
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tare/site"
)

// right is something that a run does with objects of a kind.
type right struct {
	group         string // empty: the API's first one
	resource, sub string
	verbs         []string
	whole         bool // in the whole cluster
}

// rights are what a run needs. Exec by WebSocket is a get, and since Kubernetes 1.35 a
// create too (kubernetes/kubernetes#134577).
func (p plan) rights() []right {
	all := []right{
		{resource: "nodes", verbs: []string{"list"}, whole: true},
		{resource: "pods", sub: "exec", verbs: []string{"get", "create"}},
		{resource: "events", verbs: []string{"list"}},
	}
	if p.fleet != nil {
		all = append(all, right{resource: "pods", verbs: []string{"list"}}, right{group: daemonSets().group, resource: daemonSets().name, verbs: []string{"create"}})
	} else {
		all = append(all, right{resource: "pods", verbs: []string{"create", "list"}}, right{resource: "services", verbs: []string{"create"}},
			right{group: policies().group, resource: policies().name, verbs: []string{"create", "delete"}})
	}
	if p.has.Pods > 0 {
		all = append(all, right{group: replicaSets().group, resource: replicaSets().name, verbs: []string{"create", "list"}})
	}
	if p.own {
		return append(all, right{resource: "namespaces", verbs: []string{"create", "list", "delete"}, whole: true})
	}
	return append(all, right{resource: "configmaps", verbs: []string{"create", "list", "delete"}})
}

// roleOf is the role that allows a run, and no more.
func roleOf(p plan) rbacv1.ClusterRole {
	role := rbacv1.ClusterRole{TypeMeta: metav1.TypeMeta{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole"}, ObjectMeta: metav1.ObjectMeta{Name: "tare"}}
	for _, r := range p.rights() {
		role.Rules = append(role.Rules, r.rule())
	}
	return role
}

// rule is a right as a role has it.
func (r right) rule() rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{r.group}, Resources: []string{r.name()}, Verbs: r.verbs}
}

// command is the verb that plans it.
func (p plan) command() string {
	if p.fleet != nil {
		return "mesh"
	}
	return "run"
}

func (r right) name() string {
	if r.sub != "" {
		return r.resource + "/" + r.sub
	}
	return r.resource
}

// allowed asks the cluster whether the user may do what a run does, before anything is made.
func (c *cluster) allowed(ctx context.Context, p plan) error {
	for _, r := range p.rights() {
		for _, verb := range r.verbs {
			asked := authorizationv1.ResourceAttributes{Namespace: p.namespace(), Verb: verb, Group: r.group, Version: "v1", Resource: r.resource, Subresource: r.sub}
			if r.whole {
				asked.Namespace = ""
			}
			answer := &authorizationv1.SelfSubjectAccessReview{
				TypeMeta: metav1.TypeMeta{APIVersion: "authorization.k8s.io/v1", Kind: "SelfSubjectAccessReview"},
				Spec:     authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &asked},
			}
			err := c.create(ctx, object{kind{"authorization.k8s.io", "v1", "selfsubjectaccessreviews"}, "", answer})
			if err != nil {
				return c.explain("ask what this user may do", err)
			}
			if !answer.Status.Allowed {
				return &site.ChoiceError{Text: fmt.Sprintf("%s %s: this user may not, and a run needs it%s: have an administrator grant the role that tare %s --site kubernetes --dry-run prints", verb, r.name(), because(answer.Status.Reason), p.command())}
			}
		}
	}
	return nil
}
