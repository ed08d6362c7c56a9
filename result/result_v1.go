package result

import (
	"bytes"
	"encoding/json"
)

// schemaV1 is the format of tare 0.1, which this version reads: it called the clusters of a cell
// underlays, and had a field for each kind of comparison.
const schemaV1 = "tare.result/1"

// resultV1 is a result of that format.
type resultV1 struct {
	Result
	Cells      []cellV1    `json:"cells"`
	Contrasts  []cellV1    `json:"contrasts"`
	Versions   *Comparison `json:"ip_versions"`
	Passengers *Comparison `json:"passengers"`
	Neighbours *Comparison `json:"neighbours"`
	Kernels    *struct {
		Kernels
		Twin     []cellV1     `json:"twin"`
		Compared []Comparison `json:"compared"`
	} `json:"kernels"`
	References []struct {
		Network  string   `json:"network"`
		Path     string   `json:"path"`
		Against  string   `json:"against"`
		Workload string   `json:"workload"`
		Params   Params   `json:"params"`
		Metric   string   `json:"metric"`
		Value    float64  `json:"value"`
		Low      *float64 `json:"low"`
		High     *float64 `json:"high"`
	} `json:"references"`
	Pairs []struct {
		MachinePair
		Cells []cellV1 `json:"cells"`
	} `json:"pairs"`
}

type cellV1 struct {
	Cell
	Underlays []string `json:"underlays"`
}

// decodeFirst reads a result of the first format.
func decodeFirst(text []byte) (*Result, error) {
	var f resultV1
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&f); err != nil {
		return nil, err
	}
	res := &f.Result
	res.Schema, res.Cells, res.Contrasts = Schema, cellsOfFirst(f.Cells), cellsOfFirst(f.Contrasts)
	for _, one := range []struct {
		along string
		c     *Comparison
	}{{"ip", f.Versions}, {"with", f.Passengers}, {"neighbour", f.Neighbours}} {
		if one.c != nil {
			res.Comparisons = append(res.Comparisons, res.alongInFirst(*one.c, one.along))
		}
	}
	if f.Kernels != nil {
		res.Kernels = &f.Kernels.Kernels
		res.Kernels.Twin = cellsOfFirst(f.Kernels.Twin)
		for _, c := range f.Kernels.Compared {
			res.Comparisons = append(res.Comparisons, res.alongInFirst(c, "kernel"))
		}
	}
	for _, p := range f.Pairs {
		p.MachinePair.Cells = cellsOfFirst(p.Cells)
		res.Pairs = append(res.Pairs, p.MachinePair)
	}
	f.references(res)
	return res, nil
}

func cellsOfFirst(all []cellV1) (cells []Cell) {
	for _, c := range all {
		c.Clusters = c.Underlays
		cells = append(cells, c.Cell)
	}
	return cells
}

// alongInFirst is a comparison that named its two sides as files.
func (res *Result) alongInFirst(c Comparison, along string) Comparison {
	c.Along, c.Of, c.Than = along, c.New.File, c.Old.File
	for _, n := range res.Plan.Networks {
		if value := n.Params.Map()[along]; value != "" {
			c.Of = value // the command, or the workload
		}
	}
	c.Old, c.New = Compared{}, Compared{}
	c.Title = along + ": " + c.Of + " against " + c.Than
	return c
}

// references become the comparison along paths.
func (f *resultV1) references(res *Result) {
	if len(f.References) == 0 {
		return
	}
	c := Comparison{
		Along: AlongPath, Of: Each, Than: f.References[0].Against, Paired: true, Judged: JudgedByNothing,
		Title: AlongPath + ": " + Each + " against " + f.References[0].Against,
	}
	value := func(network, path, workload, metric string) (value float64, mode string) {
		for _, cell := range res.Cells {
			for _, m := range cell.Metrics {
				if cell.Network == network && cell.Path == path && cell.Workload == workload && m.Name == metric {
					return m.Value, cell.Mode
				}
			}
		}
		return 0, ""
	}
	for n, r := range f.References {
		q, _ := QuantityOf(r.Metric)
		recent, mode := value(r.Network, r.Path, r.Workload, r.Metric)
		old, _ := value(r.Network, r.Against, r.Workload, r.Metric)
		m := ComparedMetric{Name: r.Metric, Unit: q.Unit, Better: q.Better, Old: old, New: recent, Change: &Change{Value: r.Value, Low: r.Low, High: r.High}}
		if before := n - 1; before >= 0 && f.References[before].Network == r.Network && f.References[before].Path == r.Path && f.References[before].Params.Key() == r.Params.Key() {
			last := &c.Cells[len(c.Cells)-1]
			last.Metrics = append(last.Metrics, m)
			continue
		}
		c.Cells = append(c.Cells, ComparedCell{Network: r.Network, Path: r.Path, Workload: r.Workload, Mode: mode, Params: r.Params, Metrics: []ComparedMetric{m}})
	}
	res.Comparisons = append(res.Comparisons, c)
}
