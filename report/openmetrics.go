package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"tare/result"
)

// openFamily is a metric family of OpenMetrics. All are gauges: monitoring that knows only the
// older text format of Prometheus reads them too.
type openFamily struct {
	name, unit, help string
	points           func(m openMesh) []openPoint
}

// openMesh is a mesh, or the cells of another result, and when it ended.
type openMesh struct {
	*result.Mesh
	cells []result.Cell
	at    time.Time
}

// openPoint is one value, with its labels in order: name, value, name, value.
type openPoint struct {
	labels []string
	value  float64
}

// openFamilies are what is written of a mesh.
func openFamilies() []openFamily {
	return []openFamily{
		{"tare_mesh_finished_timestamp_seconds", "seconds", "When the mesh was measured, in Unix time.", finishedPoint},
		{"tare_mesh_nodes", "", "Nodes of the mesh.", func(m openMesh) []openPoint { return []openPoint{{nil, float64(len(m.Nodes))}} }},
		{"tare_mesh_unmeasured", "", "Nodes and links of which too little was measured to judge them.", unmeasuredPoints},
		{"tare_mesh_named", "", "Nodes, links, groups and so on that are named as slow.", namedCounts},
		{"tare_mesh_slow_ratio", "ratio", "How much worse than the others what is named is: 0.2 is a fifth less throughput, or a fifth more time.", namedPoints(func(n result.MeshNamed) float64 { return n.Value })},
		{"tare_mesh_slow_low_ratio", "ratio", "The low end of its 95 % interval.", namedPoints(func(n result.MeshNamed) float64 { return n.Low })},
		{"tare_mesh_slow_high_ratio", "ratio", "The high end of its 95 % interval.", namedPoints(func(n result.MeshNamed) float64 { return n.High })},
		{"tare_mesh_effect_ratio", "ratio", "How much worse than the middle of its kind each node, group and so on is, in the rounds of all pairs.", effectPoints(func(e result.MeshEffect) *float64 { return &e.Value })},
		{"tare_mesh_effect_low_ratio", "ratio", "The low end of its 95 % interval.", effectPoints(func(e result.MeshEffect) *float64 { return e.Low })},
		{"tare_mesh_effect_high_ratio", "ratio", "The high end of its 95 % interval.", effectPoints(func(e result.MeshEffect) *float64 { return e.High })},
		{"tare_mesh_incast_ratio", "ratio", "How much worse a node serves many at once than one.", incastPoints},
		{"tare_mesh_middle_seconds", "seconds", "The middle of all pairs: a time.", middlePoints("s")},
		{"tare_mesh_middle_bits_per_second", "bits_per_second", "The middle of all pairs: a throughput.", middlePoints("bit/s")},
	}
}

// writeOpenMetrics writes results as text of OpenMetrics 1.0. Of several, each value has the time
// at which its result ended, so that a time line can be filled in later; of one it has none, as
// those who collect files want it.
func writeOpenMetrics(w io.Writer, results []*result.Result, _ string) (left []string, err error) {
	var meshes, runs []openMesh
	for _, res := range results {
		one := openMesh{res.Mesh, nil, endOf(res)}
		switch {
		case res.Mesh != nil:
			meshes = append(meshes, one)
		case len(res.Cells) > 0:
			var same []string
			one.cells, same = openCells(res.Cells)
			runs, left = append(runs, one), append(left, same...)
		}
	}
	var text strings.Builder
	for _, part := range []struct {
		of       []openMesh
		families []openFamily
	}{{meshes, openFamilies()}, {runs, cellFamilies()}} {
		if err := inTime(part.of); err != nil {
			return left, err
		}
		for _, f := range part.families {
			f.write(&text, part.of)
		}
	}
	if text.Len() == 0 {
		return left, nil
	}
	text.WriteString("# EOF\n")
	if _, err := io.WriteString(w, text.String()); err != nil {
		return left, fmt.Errorf("write report: %w", err)
	}
	return left, nil
}

// inTime puts results in the order of time, and refuses two of one time.
func inTime(all []openMesh) error {
	slices.SortStableFunc(all, func(a, b openMesh) int { return a.at.Compare(b.at) })
	for n := 1; n < len(all); n++ {
		if !all[n].at.After(all[n-1].at) {
			return fmt.Errorf("write results: two of them ended at %s: name each once", all[n].at.Format(time.RFC3339))
		}
	}
	return nil
}

// endOf is when a result was finished, or begun where it was interrupted; zero: it does not say.
func endOf(res *result.Result) time.Time {
	at, err := time.Parse(time.RFC3339, cmp.Or(res.Finished, res.Started))
	if err != nil {
		return time.Time{}
	}
	return at
}

// write writes the family, each series with all of its values.
func (f openFamily) write(text *strings.Builder, meshes []openMesh) {
	var names []string // of series, as they come
	series := map[string][]string{}
	for _, m := range meshes {
		when := ""
		if len(meshes) > 1 {
			when = " " + strconv.FormatInt(m.at.Unix(), 10)
		}
		here := map[string]bool{} // a series has one value in a mesh, whatever a file holds
		for _, p := range f.points(m) {
			name := f.name + openLabels(p.labels)
			if here[name] {
				continue
			}
			here[name] = true
			if series[name] == nil {
				names = append(names, name)
			}
			series[name] = append(series[name], strconv.FormatFloat(p.value, 'g', -1, 64)+when)
		}
	}
	if len(names) == 0 {
		return
	}
	fmt.Fprintf(text, "# TYPE %s gauge\n", f.name)
	if f.unit != "" {
		fmt.Fprintf(text, "# UNIT %s %s\n", f.name, f.unit)
	}
	fmt.Fprintf(text, "# HELP %s %s\n", f.name, f.help)
	for _, name := range names {
		for _, value := range series[name] {
			fmt.Fprintf(text, "%s %s\n", name, value)
		}
	}
}

// openLabels are labels as they are written.
func openLabels(labels []string) string {
	escaped := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
	var all []string
	for n := 0; n+1 < len(labels); n += 2 {
		all = append(all, labels[n]+`="`+escaped.Replace(result.Plain(labels[n+1]))+`"`)
	}
	if len(all) == 0 {
		return ""
	}
	return "{" + strings.Join(all, ",") + "}"
}

func finishedPoint(m openMesh) []openPoint {
	if m.at.IsZero() {
		return nil
	}
	return []openPoint{{nil, float64(m.at.Unix())}}
}

func unmeasuredPoints(m openMesh) []openPoint {
	counts := map[string]int{}
	for _, u := range m.Unmeasured {
		kind := result.MeshNodeKind
		if len(u.Of) > 1 {
			kind = result.MeshLink
		}
		counts[kind]++
	}
	return kindCounts(counts, result.MeshNodeKind, result.MeshLink)
}

func namedCounts(m openMesh) []openPoint {
	counts := map[string]int{}
	for _, n := range m.Named {
		counts[n.Kind]++
	}
	return kindCounts(counts, result.MeshNodeKind, result.MeshLink, result.MeshGroup, result.MeshUplink, result.MeshBetween, result.MeshOversubscribed)
}

// kindCounts are the counts of kinds, also of those of which there is none.
func kindCounts(counts map[string]int, kinds ...string) []openPoint {
	var points []openPoint
	for _, kind := range kinds {
		points = append(points, openPoint{[]string{"kind", kind}, float64(counts[kind])})
	}
	return points
}

func namedPoints(of func(result.MeshNamed) float64) func(openMesh) []openPoint {
	return func(m openMesh) []openPoint {
		var points []openPoint
		for _, n := range m.Named {
			points = append(points, openPoint{meshLabels(n.Kind, n.Of, n.Metric), of(n)})
		}
		return points
	}
}

func effectPoints(of func(result.MeshEffect) *float64) func(openMesh) []openPoint {
	return func(m openMesh) []openPoint {
		var points []openPoint
		for _, e := range m.Effects {
			if value := of(e); value != nil {
				points = append(points, openPoint{meshLabels(e.Kind, e.Of, e.Metric), *value})
			}
		}
		return points
	}
}

func incastPoints(m openMesh) []openPoint {
	if m.Incast == nil {
		return nil
	}
	var points []openPoint
	for _, e := range m.Incast.Effects {
		points = append(points, openPoint{[]string{"of", e.Of, "metric", e.Metric}, e.Value})
	}
	return points
}

func meshLabels(kind string, of []string, metric string) []string {
	return []string{"kind", kind, "of", strings.Join(of, " - "), "metric", metric}
}

func middlePoints(unit string) func(openMesh) []openPoint {
	return func(m openMesh) []openPoint {
		var points []openPoint
		for _, metric := range m.Judged {
			q, _ := result.QuantityOf(metric)
			if _, middle := pairsOfMesh(m.Mesh, metric); q.Unit == unit && middle > 0 {
				points = append(points, openPoint{[]string{"metric", metric}, middle})
			}
		}
		return points
	}
}
