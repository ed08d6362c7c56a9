package result

import (
	"cmp"
	"encoding/json"
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
	return cmp.Or(err, p.Axes.check())
}

// upgradePlan are the axes of a plan of tare.result/1. It had a key for each at its top, as
// plans in YAML have, or two for one value and for several; 0 and "" were none.
func upgradePlan(raw map[string]json.RawMessage) (PlanAxes, error) {
	open := func(text json.RawMessage) (inner map[string]json.RawMessage, err error) {
		return inner, json.Unmarshal(text, &inner)
	}
	return takeAxes(raw, open, func(_ Axis, _ string, text json.RawMessage) ([]any, error) {
		var value any
		if err := json.Unmarshal(text, &value); err != nil || value == 0.0 || value == "" {
			return nil, err
		}
		if values, several := value.([]any); several {
			return values, nil
		}
		return []any{value}, nil
	})
}
