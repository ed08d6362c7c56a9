package result

import (
	"encoding/json"
	"fmt"
)

// UnmarshalJSON reads a plan, also one of tare.result/1.
func (p *Plan) UnmarshalJSON(text []byte) error {
	type plan Plan
	if err := json.Unmarshal(text, (*plan)(p)); err != nil {
		return err
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(text, &raw); err != nil {
		return err
	}
	older, err := upgradePlan(raw)
	for name, values := range older {
		p.Axes = p.Axes.With(name, values...)
	}
	return err
}

// upgradePlan are the axes of a plan of tare.result/1. It had a key for each at its top, as
// plans in YAML have, or two for one value and for several; 0 and "" were none.
func upgradePlan(raw map[string]json.RawMessage) (PlanAxes, error) {
	axes := PlanAxes{}
	for _, a := range PlannedAxes() {
		held := raw
		if a.In != "" && raw[a.In] != nil {
			held = nil
			if err := json.Unmarshal(raw[a.In], &held); err != nil {
				return nil, fmt.Errorf("read %s of a plan: %w", a.In, err)
			}
		}
		for _, key := range a.keys() {
			if held[key] == nil {
				continue
			}
			var value any
			if err := json.Unmarshal(held[key], &value); err != nil {
				return nil, fmt.Errorf("read %s of a plan: %w", key, err)
			}
			values, several := value.([]any)
			if !several && value != 0.0 {
				values = []any{value}
			}
			if len(values) > 0 {
				axes = axes.With(a.Name, values...)
			}
		}
	}
	return axes, nil
}
