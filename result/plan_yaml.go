package result

import (
	"bytes"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

// DecodePlan reads a plan from YAML. Unknown keys, a second document and wrong
// units are errors that name the line.
func DecodePlan(r io.Reader) (Plan, error) {
	dec := yaml.NewDecoder(r)
	dec.KnownFields(true)
	var p Plan
	if err := dec.Decode(&p); err != nil {
		return Plan{}, fmt.Errorf("read plan: %w", err)
	}
	if err := dec.Decode(new(Plan)); err != io.EOF {
		return Plan{}, fmt.Errorf("read plan: more follows after the first document: keep one plan per file")
	}
	return p, nil
}

// EncodeYAML writes the plan as YAML that DecodePlan reads back.
func (p Plan) EncodeYAML() ([]byte, error) {
	var buf bytes.Buffer
	enc := yaml.NewEncoder(&buf)
	enc.SetIndent(2)
	if err := enc.Encode(p); err != nil {
		return nil, fmt.Errorf("encode plan: %w", err)
	}
	if err := enc.Close(); err != nil {
		return nil, fmt.Errorf("encode plan: %w", err)
	}
	return buf.Bytes(), nil
}

// UnmarshalYAML reads a network as its bare name or as a mapping.
func (n *NetworkPlan) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		n.Name = node.Value
		return nil
	}
	type plain NetworkPlan
	return decodeKnown(node, (*plain)(n))
}

// MarshalYAML writes a network that has nothing but its name as that name.
func (n NetworkPlan) MarshalYAML() (any, error) {
	if n == (NetworkPlan{Name: n.Name}) {
		return n.Name, nil
	}
	type plain NetworkPlan
	return plain(n), nil
}

// UnmarshalYAML reads a workload as its bare name or as a mapping.
func (w *WorkloadPlan) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		w.Name = node.Value
		return nil
	}
	type plain WorkloadPlan
	return decodeKnown(node, (*plain)(w))
}

// MarshalYAML writes a workload that has nothing but its name as that name.
func (w WorkloadPlan) MarshalYAML() (any, error) {
	if w == (WorkloadPlan{Name: w.Name}) {
		return w.Name, nil
	}
	type plain WorkloadPlan
	return plain(w), nil
}

// decodeKnown decodes a node strictly: a node's own Decode forgets that the
// decoder above it refuses unknown keys.
func decodeKnown(node *yaml.Node, into any) error {
	text, err := yaml.Marshal(node)
	if err != nil {
		return fmt.Errorf("line %d: %w", node.Line, err)
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(into); err != nil {
		return fmt.Errorf("line %d: %w", node.Line, err)
	}
	return nil
}
