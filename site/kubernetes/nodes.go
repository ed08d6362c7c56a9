package kubernetes

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"tare/result"
	"tare/site"
)

// choose gives one node or two: those that were named, or two that are alike.
func (s Site) choose(ctx context.Context, c *cluster) ([]corev1.Node, error) {
	fit, _, err := s.fit(ctx, c)
	if err != nil || len(s.Nodes) > 0 {
		return fit, err
	}
	return likeEachOther(fit), nil
}

// fit gives the nodes that were named, or all that take pods. unfit names the others, each
// with what keeps pods from it.
func (s Site) fit(ctx context.Context, c *cluster) (fit []corev1.Node, unfit []string, err error) {
	all, err := list[corev1.Node](ctx, c, core("nodes"), "", s.Selector)
	if err != nil {
		return nil, nil, err
	}
	if len(s.Nodes) > 0 {
		for n, name := range s.Nodes {
			if slices.Contains(s.Nodes[:n], name) {
				return nil, nil, &site.ChoiceError{Text: fmt.Sprintf("node %s is named twice: name another, or it alone", name)}
			}
			one, there := result.First(all, func(n corev1.Node) bool { return n.Name == name })
			if !there {
				return nil, nil, &site.ChoiceError{Text: fmt.Sprintf("node %s: the cluster has none of that name: take some of %s", name, names(all))}
			}
			if why := s.unfit(one); why != "" {
				return nil, nil, &site.ChoiceError{Text: fmt.Sprintf("node %s %s: name another with --nodes", name, why)}
			}
			fit = append(fit, one)
		}
		return fit, nil, nil
	}
	for _, n := range all {
		if why := s.unfit(n); why != "" {
			unfit = append(unfit, n.Name+" "+why)
			continue
		}
		fit = append(fit, n)
	}
	if len(fit) == 0 {
		return nil, nil, &site.ChoiceError{Text: fmt.Sprintf("no node takes pods: %s: name others with --nodes or --selector, or allow taints with --tolerations", cmp.Or(strings.Join(unfit, "; "), "none has those labels"))}
	}
	return fit, unfit, nil
}

// unfit says why a node takes no pod of a run; empty: it does.
func (s Site) unfit(n corev1.Node) string {
	ready, _ := result.First(n.Status.Conditions, func(c corev1.NodeCondition) bool { return c.Type == corev1.NodeReady })
	switch {
	case ready.Status != corev1.ConditionTrue:
		return "is not ready" + because(ready.Message)
	case n.Spec.Unschedulable:
		return "is cordoned"
	case n.Labels[corev1.LabelOSStable] != "" && n.Labels[corev1.LabelOSStable] != "linux":
		return "runs " + n.Labels[corev1.LabelOSStable]
	}
	for _, taint := range n.Spec.Taints {
		tolerated := slices.ContainsFunc(s.tolerations(), func(t corev1.Toleration) bool {
			return t.Key == taint.Key && (t.Effect == "" || t.Effect == taint.Effect) && (t.Operator == corev1.TolerationOpExists || t.Value == taint.Value)
		})
		if taint.Effect != corev1.TaintEffectPreferNoSchedule && !tolerated {
			return fmt.Sprintf("has the taint %s (--tolerations %s allows it)", taint.ToString(), taint.Key)
		}
	}
	return ""
}

func because(message string) string {
	if message == "" {
		return ""
	}
	return " (" + result.Plain(message) + ")"
}

// likeEachOther gives the first two of one zone, type and architecture, else the first two.
func likeEachOther(nodes []corev1.Node) []corev1.Node {
	for _, of := range divided(nodes, kindOf) {
		if len(of.nodes) > 1 {
			return of.nodes[:2]
		}
	}
	return nodes[:min(len(nodes), 2)]
}

// kindOf is what nodes that are alike have in common.
func kindOf(n corev1.Node) string {
	return strings.Join([]string{n.Labels[corev1.LabelTopologyZone], n.Labels[corev1.LabelInstanceTypeStable], n.Status.NodeInfo.Architecture}, " ")
}

// ForPairs chooses nodes that are alike for so many pairs: each for one of them where there are
// enough. They are of the kind of which there are most.
func (s Site) ForPairs(ctx context.Context, pairs int) ([]string, error) {
	c, err := s.connect()
	if err != nil {
		return nil, err
	}
	fit, _, err := s.fit(ctx, c)
	if err != nil {
		return nil, err
	}
	kinds := divided(fit, kindOf)
	most := slices.MaxFunc(kinds, func(a, b alike) int { return cmp.Compare(len(a.nodes), len(b.nodes)) }).nodes
	if n := len(most); n*(n-1)/2 < pairs {
		return nil, &site.ChoiceError{Text: fmt.Sprintf("pairs %d: no more than %d nodes of one zone, type and architecture take pods, which make %d: ask for fewer, or name nodes that differ with --nodes", pairs, n, n*(n-1)/2)}
	}
	return result.Names(most[:min(len(most), 2*pairs)], func(n corev1.Node) string { return n.Name }), nil
}

// tolerations reads those of the user.
func (s Site) tolerations() (all []corev1.Toleration) {
	for _, text := range s.Tolerations {
		text, effect, _ := strings.Cut(text, ":")
		key, value, equal := strings.Cut(text, "=")
		t := corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffect(effect)}
		if equal {
			t.Operator, t.Value = corev1.TolerationOpEqual, value
		}
		all = append(all, t)
	}
	return all
}

func names(nodes []corev1.Node) string {
	return strings.Join(result.Names(nodes, func(n corev1.Node) string { return n.Name }), ", ")
}
