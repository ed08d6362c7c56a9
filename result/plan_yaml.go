package result

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
)

// DecodePlan reads a plan from YAML. Unknown keys, a second document and wrong
// units are errors that name the line.
func DecodePlan(r io.Reader) (Plan, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return Plan{}, fmt.Errorf("read plan: %w", err)
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	var p Plan
	switch err := dec.Decode(&p); {
	case errors.Is(err, io.EOF):
		return Plan{}, errors.New("read plan: it is empty: write at least a list of networks")
	case err != nil:
		return Plan{}, fmt.Errorf("read plan: %w", inPlainWords(err, text))
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
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

// UnmarshalYAML reads a network as its bare name or as a mapping. Its form is
// the one that hands on the decoder, and with it the unknown keys that the
// decoder refuses, its line numbers and its anchors.
func (n *NetworkPlan) UnmarshalYAML(decode func(any) error) error {
	if decode(&n.Name) == nil {
		return nil
	}
	type network NetworkPlan
	return decode((*network)(n))
}

// MarshalYAML writes a network that has only a name as that name.
func (n NetworkPlan) MarshalYAML() (any, error) {
	if n == (NetworkPlan{Name: n.Name}) {
		return n.Name, nil
	}
	type plain NetworkPlan
	return plain(n), nil
}

// UnmarshalYAML reads a workload as its bare name or as a mapping.
func (w *WorkloadPlan) UnmarshalYAML(decode func(any) error) error {
	if decode(&w.Name) == nil {
		return nil
	}
	type workload WorkloadPlan
	return decode((*workload)(w))
}

// MarshalYAML writes a workload that has only a name as that name.
func (w WorkloadPlan) MarshalYAML() (any, error) {
	if w == (WorkloadPlan{Name: w.Name}) {
		return w.Name, nil
	}
	type plain WorkloadPlan
	return plain(w), nil
}

// PlanKeys lists every key that a plan in YAML may have, at any depth.
func PlanKeys() []string {
	var keys []string
	for _, of := range []reflect.Type{reflect.TypeFor[Plan](), reflect.TypeFor[NetworkPlan](), reflect.TypeFor[WorkloadPlan]()} {
		for n := range of.NumField() {
			key, _, _ := strings.Cut(of.Field(n).Tag.Get("yaml"), ",")
			if key != "-" {
				keys = AddOnce(keys, key)
			}
		}
	}
	for _, a := range PlannedAxes() {
		keys = AddOnce(keys, a.PlanKey())
		if a.In != "" {
			keys = AddOnce(keys, a.In)
		}
	}
	return keys
}
