package report

import "tare/result"

// parts splits the tolls of a table into what is explained and the rest: by
// headers where there is a ceiling, by its layer 4 where an application is
// weighed. It is empty where no toll is split.
func (t *table) parts() []grid {
	var grids []grid
	for _, of := range []struct {
		explained, rest string
		split           func(m *result.Metric) (explained, rest float64, ok bool)
	}{
		{t.say("framing"), t.say("processing"), func(m *result.Metric) (float64, float64, bool) {
			if m.TollParts == nil {
				return 0, 0, false
			}
			return m.TollParts.Framing, m.TollParts.Processing, true
		}},
		{t.say("layer_4"), t.say("rest"), func(m *result.Metric) (float64, float64, bool) {
			if m.Layer4 == nil {
				return 0, 0, false
			}
			return m.Layer4.Predicted, m.Layer4.Rest, true
		}},
	} {
		if g := t.splitInto(of.explained, of.rest, of.split); g != nil {
			grids = append(grids, g)
		}
	}
	return grids
}

// splitInto is the grid of one kind of split; nil: no toll has it.
func (t *table) splitInto(explained, rest string, split func(m *result.Metric) (explained, rest float64, ok bool)) grid {
	s := scaleFor("ratio")
	g := grid{
		{unit: t.say("network")}, {head: t.heading(t.headlines[0]), unit: t.say("toll_percent"), right: true},
		{unit: explained, right: true}, {unit: rest, right: true},
	}
	for _, r := range t.rows {
		m := r.metric(0, t.headlines[0])
		if m == nil || m.Toll == nil {
			continue
		}
		one, other, ok := split(m)
		if !ok {
			continue
		}
		g[0].cells = append(g[0].cells, cell{text: r.name()})
		for i, ratio := range []float64{m.Toll.Value, one, other} {
			text, _ := s.difference(ratio, nil, nil)
			g[i+1].cells = append(g[i+1].cells, cell{text: text})
		}
	}
	if len(g[0].cells) == 0 {
		return nil
	}
	return g
}
