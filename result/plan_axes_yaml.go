package result

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"
)

// nodes are values of YAML by their keys.
type nodes = map[string]yaml.Node

// planFile is a plan in YAML: its fields, and the axes, each by a key.
type planFile struct {
	Plan plainPlan `yaml:",inline"`
	Axes nodes     `yaml:",inline"`
}

// mapping is one of YAML with its keys, whose lines errors name.
type mapping struct{ *yaml.Node }

// UnmarshalYAML keeps the mapping as it is.
func (m *mapping) UnmarshalYAML(node *yaml.Node) error {
	m.Node = node
	return nil
}

// plainPlan is a plan without its axes.
type plainPlan Plan

// UnmarshalYAML reads a plan whose axes are keys like the others. Its form is that of
// NetworkPlan's.
func (p *Plan) UnmarshalYAML(decode func(any) error) error {
	var file planFile
	if err := decode(&file); err != nil {
		return err
	}
	var whole mapping
	if err := decode(&whole); err != nil {
		return err
	}
	*p = Plan(file.Plan)
	var err error
	p.Axes, err = takeAxes(file.Axes, func(node yaml.Node) (inner nodes, err error) { return inner, node.Decode(&inner) }, Axis.readNode)
	return cmp.Or(unknownKeys(file.Axes, whole.Node), err)
}

// readNode reads a value of YAML, or a list of them where an axis takes several. A single 0 is
// none.
func (a Axis) readNode(key string, value yaml.Node) (values []any, err error) {
	node := anchored(&value)
	words := []*yaml.Node{node}
	switch {
	case node.Kind == yaml.SequenceNode && a.Many:
		words = node.Content
	case node.Kind == yaml.SequenceNode:
		return nil, fmt.Errorf("line %d: %s is a list: write one value", node.Line, key)
	case node.Kind == yaml.ScalarNode && (node.Tag == "!!null" || slices.Contains([]string{"", "0", "0s"}, node.Value)):
		return nil, nil
	}
	for _, word := range words {
		if word = anchored(word); word.Kind != yaml.ScalarNode {
			return nil, fmt.Errorf("line %d: %s has no value there: write a word or a number", word.Line, key)
		}
		value, err := a.Read(word.Value)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", word.Line, err)
		}
		values = append(values, value)
	}
	return values, nil
}

// anchored is what an alias repeats; anything else is itself.
func anchored(node *yaml.Node) *yaml.Node {
	if node.Kind == yaml.AliasNode {
		return node.Alias
	}
	return node
}

// unknownKeys is the decoder's error for keys that are no field and no axis; nil: there are none.
func unknownKeys(keys nodes, plan *yaml.Node) error {
	var wrong yaml.TypeError
	for _, key := range slices.SortedFunc(maps.Keys(keys), func(a, b string) int { return cmp.Compare(keys[a].Line, keys[b].Line) }) {
		line := keys[key].Line
		if at := keyIn(plan, key); at >= 0 {
			line = plan.Content[at].Line
		}
		wrong.Errors = append(wrong.Errors, fmt.Sprintf("line %d: field %s not found in type result.Plan", line, key))
	}
	if wrong.Errors == nil {
		return nil
	}
	return &wrong
}

// MarshalYAML writes the axes as keys behind the workloads.
func (p Plan) MarshalYAML() (any, error) {
	var file yaml.Node
	if err := file.Encode(plainPlan(p)); err != nil {
		return nil, err
	}
	at := 2 + keyIn(&file, "workloads")
	for _, a := range labAxes() {
		value := a.node(p.Axes[a.Name])
		if value == nil {
			continue
		}
		pair := []*yaml.Node{textNode(a.PlanKey()), value}
		if a.In == "" {
			file.Content = slices.Insert(file.Content, at, pair...)
			at += 2
		} else if held := keyIn(&file, a.In); held >= 0 {
			file.Content[held+1].Content = append(file.Content[held+1].Content, pair...)
		} else {
			file.Content = slices.Insert(file.Content, at, textNode(a.In), &yaml.Node{Kind: yaml.MappingNode, Content: pair})
			at += 2
		}
		if a.Name == "nic" && keyIn(&file, "encap_nic") == at {
			at += 2 // it is more of the same
		}
	}
	return &file, nil
}

// keyIn is where a mapping has a key; -1: nowhere.
func keyIn(mapping *yaml.Node, key string) int {
	for n := 0; n < len(mapping.Content); n += 2 {
		if mapping.Content[n].Value == key {
			return n
		}
	}
	return -1
}

// node writes the values of an axis: a list where there may be several, but for an amount that
// is alone. nil: there are none.
func (a Axis) node(values []any) *yaml.Node {
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for _, value := range values {
		written := textNode(a.Written(value))
		if _, word := value.(string); !word {
			written = &yaml.Node{Kind: yaml.ScalarNode, Value: written.Value}
		}
		list.Content = append(list.Content, written)
	}
	switch {
	case len(values) == 0:
		return nil
	case len(values) == 1 && (!a.Many || a.Unit != ""):
		return list.Content[0]
	}
	return list
}

// textNode is a text, in quotes where it would be read as something else.
func textNode(text string) *yaml.Node {
	var node yaml.Node
	_ = node.Encode(text) // a text can be encoded
	return &node
}
