package report

import (
	"math"
	"math/rand/v2"

	"tare/catalog"
	"tare/result"
	"tare/stats"
	"tare/weigh"
	"tare/wire"
)

// world generates results without an experiment: it has how fast each network is
// on each path.
type world struct {
	plan     result.Plan
	noise    float64 // standard deviation of the log of a window
	networks []string
	paths    []string
	loads    []result.WorkloadPlan
	warn     map[string][]string             // network -> warnings of its metrics
	broken   map[string]string               // "network workload" -> why it failed
	links    map[string]result.BitsPerSecond // of the networks that have their own
	factor   map[string]float64              // throughput of a network, besides its cost
	rnd      *rand.Rand
}

// plan is the quick plan.
func plan() result.Plan {
	return result.Plan{
		Name: "quick", Axes: result.DefaultAxes().With("rps"),
		Blocks: 10, Warmup: 0.03, Duration: 0.06, Margin: 0.02, Seed: 42,
	}
}

func newWorld(plan result.Plan, seed uint64) *world {
	return &world{plan: plan, noise: 0.006, rnd: rand.New(rand.NewPCG(seed, 1)), broken: map[string]string{}}
}

// cost is what a network does to the throughput (a factor) and what it adds to
// the round trip (seconds), on top of the baseline of the path.
func cost(name, path string) (factor, added float64) {
	factor, added = 1, 0
	for at := name; at != catalog.Baseline && at != ""; at = parentOf(at) {
		switch at {
		case "veth":
			factor, added = factor*0.88, added+1.2e-6
		case "bridge":
			factor, added = factor*0.98, added+0.4e-6
		case "nat":
			factor, added = factor*0.96, added+0.5e-6
		case "proxy":
			factor, added = factor*0.42, added+14e-6
		case "macvlan":
			factor, added = factor*0.985, added+0.3e-6
		case "route", "ptp":
			factor, added = factor*0.99, added+0.2e-6
		case "vxlan":
			factor, added = factor*0.99, added+0.1e-6
			if path == catalog.CrossHost || path == catalog.HostToContainer {
				factor, added = factor*0.78, added+2.9e-6
			}
		default:
			factor, added = factor*0.9, added+1e-6
		}
	}
	return factor, added
}

// result measures the world.
func (w *world) result() *result.Result {
	res := &result.Result{
		Schema: result.Schema, ID: "20260301-101500", Started: "2026-03-01T10:15:00Z", Finished: "2026-03-01T10:16:12Z",
		Tool: result.Tool{Version: "0.1.0", Commit: "4f2c1d0"},
		Environment: result.Environment{
			Kernel: "6.8.0-45-generic", CPUModel: "AMD EPYC 7B13", CPUs: 8, Virtualisation: "kvm",
			Clocksource: "kvm-clock", MemoryBytes: 33 << 30, Privilege: "root", Parts: map[string]string{},
		},
		Plan:  w.plan,
		Noise: result.Noise{Steal: 0.0012, Pressure: 0.004, ForeignCPU: 0.05},
	}
	for _, name := range w.networks {
		res.Plan.Networks = append(res.Plan.Networks, result.NetworkPlan{Name: name})
	}
	res.Plan.Paths, res.Plan.Workloads = w.paths, w.loads
	for _, path := range w.paths {
		for _, load := range w.loads {
			res.Cells = append(res.Cells, w.comparison(res, path, load)...)
		}
	}
	return res
}

// comparison measures all networks on one path under one workload.
func (w *world) comparison(res *result.Result, path string, load result.WorkloadPlan) []result.Cell {
	var cells []result.Cell
	for _, name := range w.networks {
		n, known := catalog.FindNetwork(name)
		if known && name != catalog.Baseline && !n.Serves(path) {
			continue
		}
		cells = append(cells, w.cell(name, path, load))
	}
	for i := range cells {
		if cells[i].Status == result.StatusOK {
			w.weigh(res, &cells[i], &cells[0], path, load)
		}
	}
	return cells
}

func (w *world) params(load result.WorkloadPlan) result.Params {
	params := result.Params{
		"nic": w.plan.Axes.Word("nic"), "mtu": w.plan.Axes.Number("mtu"), "pin": w.plan.Axes.Word("pin"), "cc": w.plan.Axes.Word("cc"), "rps": true,
		"warmup": float64(w.plan.Warmup), "duration": float64(w.plan.Duration), "link": w.plan.Axes.Number("link"),
	}
	if load.Flows > 0 {
		params["flows"] = float64(load.Flows)
	}
	if load.Size > 0 {
		params["size"] = float64(load.Size)
	}
	return params
}

// cell takes the samples of one cell.
func (w *world) cell(name, path string, load result.WorkloadPlan) result.Cell {
	c := result.Cell{
		Network: name, Path: path, Workload: load.Name, Params: w.params(load), Mode: load.Mode,
		Fidelity: catalog.SamePath, Status: result.StatusOK,
	}
	if own := w.links[name]; own > 0 {
		c.Params["link"] = float64(own)
	}
	if reason := w.broken[name+" "+load.Name]; reason != "" {
		c.Status, c.Reason = result.StatusFailed, reason
		return c
	}
	layouts := []string{""}
	if name == catalog.Baseline {
		layouts = []string{"a", "b"}
	}
	for block := range w.plan.Blocks {
		for order, layout := range layouts {
			c.Samples = append(c.Samples, result.Sample{
				Block: block, Order: order, Layout: layout, Metrics: w.window(name, path, load),
			})
		}
	}
	return c
}

// jittered is a value as a noisy machine measures it.
func (w *world) jittered(value float64) float64 {
	return value * math.Exp(w.noise*w.rnd.NormFloat64())
}

// window is what one window measures.
func (w *world) window(name, path string, load result.WorkloadPlan) map[string]float64 {
	factor, added := cost(name, path)
	if own := w.factor[name]; own > 0 {
		factor *= own
	}
	base, trip := 38.2e9, 9.1e-6
	if path == catalog.CrossHost || path == catalog.HostToContainer || path == catalog.PublishedPort || path == catalog.ContainerToPublishedPort {
		base, trip = 30.4e9, 14.6e-6
	}
	rate := w.jittered(base * factor)
	if ceiling := w.ceiling(name); ceiling > 0 {
		rate = min(rate, w.jittered(ceiling*0.998))
	}
	trip = w.jittered(trip + added)
	switch load.Name {
	case "tcp_stream":
		return map[string]float64{"throughput": rate, "cpu_per_gbit": w.jittered(0.048 / factor), "retransmits": 0}
	case "tcp_rr", "udp_rr":
		return map[string]float64{"rtt_p50": trip, "rtt_p99": 2.4 * trip, "rtt_p999": 6 * trip, "rate": 1 / trip}
	case "tcp_crr":
		return map[string]float64{"rate": 0.25 / trip, "latency_p50": 4 * trip, "latency_p99": 9 * trip}
	case "udp_pps":
		return map[string]float64{"rate": w.jittered(8.2e5 * factor), "loss": 0.02 / factor, "sender_drops": 0, "offered_rate": 9e5}
	}
	return map[string]float64{"throughput": w.jittered(1e9), "loss": (1 - factor) / 50, "jitter": trip / 8, "sender_drops": math.Round(9 * (1 - factor))}
}

// ceiling is what the plan's link can carry, 0 without a link.
func (w *world) ceiling(name string) float64 {
	link := result.BitsPerSecond(w.plan.Axes.Number("link"))
	if own := w.links[name]; own > 0 {
		link = own
	}
	if link == 0 {
		return 0
	}
	stack := wire.None()
	if n, ok := catalog.FindNetwork(name); ok {
		stack = n.Stack
	}
	return float64(wire.TCPCeiling(wire.BitsPerSecond(link), wire.IPv4, wire.InnerMTU(int(w.plan.Axes.Number("mtu")), stack), stack))
}

// weigh fills the metrics of a cell from its samples and its baseline's.
func (w *world) weigh(res *result.Result, c, baseline *result.Cell, path string, load result.WorkloadPlan) {
	for _, q := range result.Quantities() {
		own := perBlock(c, q.Name)
		if len(own) == 0 {
			continue
		}
		var all []float64
		for block := range w.plan.Blocks {
			all = append(all, own[block]...)
		}
		where, ok := stats.Location(all, true)
		m := result.Metric{Name: q.Name, Unit: q.Unit, Better: q.Better, N: len(own), Value: where.Value, Warnings: w.warn[c.Network]}
		m.Low, m.High = ends(where, ok && m.N >= stats.MinBlocks)
		if c.Network == catalog.Baseline {
			w.again(res, c, q, path, load)
		} else {
			w.toll(&m, c, baseline, q)
		}
		if q.Name == "throughput" && w.plan.Axes.Linked() {
			ceiling := w.ceiling(c.Network)
			m.Ceiling = &result.Ceiling{Value: ceiling, Ratio: m.Value / ceiling}
			if m.Toll != nil {
				framing := 1 - ceiling/w.ceiling(catalog.Baseline)
				m.TollParts = &result.TollParts{Framing: framing, Processing: m.Toll.Value - framing}
			}
		}
		c.Metrics = append(c.Metrics, m)
	}
}

func ends(i stats.Interval, ok bool) (low, high *float64) {
	if !ok {
		return nil, nil
	}
	return &i.Low, &i.High
}

func direction(q result.Quantity) stats.Direction {
	if q.Better == result.Lower {
		return stats.LowerIsBetter
	}
	return stats.HigherIsBetter
}

// baselineAgain is the toll of one baseline against the other.
func baselineAgain(host *result.Cell, q result.Quantity) (stats.Interval, bool) {
	var blocks []stats.Block
	for _, values := range perBlock(host, q.Name) {
		blocks = append(blocks, stats.Block{Cell: values[0], Baselines: values[1:]})
	}
	return stats.Toll(stats.LogRatios(blocks), direction(q))
}

// again records the A/A comparison of a baseline.
func (w *world) again(res *result.Result, host *result.Cell, q result.Quantity, path string, load result.WorkloadPlan) {
	if aa, ok := baselineAgain(host, q); ok {
		verdict := stats.Judge(aa, stats.Margins{Declared: w.plan.Margin, Least: w.plan.Margin})
		res.Noise.AA = append(res.Noise.AA, result.AA{
			Path: path, Workload: load.Name, Params: host.Params, Metric: q.Name,
			Low: aa.Low, High: aa.High, Verdict: string(verdict),
		})
	}
}

// toll weighs a metric against the baseline's.
func (w *world) toll(m *result.Metric, c, baseline *result.Cell, q result.Quantity) {
	host, own := perBlock(baseline, q.Name), perBlock(c, q.Name)
	var blocks []stats.Block
	var differences []float64
	for block := range w.plan.Blocks {
		if len(host[block]) > 0 && len(own[block]) > 0 {
			pair := stats.Block{Cell: own[block][0], Baselines: host[block]}
			blocks = append(blocks, pair)
			if ratio, ok := pair.LogRatio(); ok {
				differences = append(differences, pair.Cell-pair.Cell/math.Exp(ratio))
			}
		}
	}
	ratios := stats.LogRatios(blocks)
	if len(ratios) == 0 {
		return
	}
	centre, ok := stats.Centre(ratios)
	value, margins := centre.Toll(direction(q), 0.05), stats.Margins{Declared: w.plan.Margin, Least: w.plan.Margin}
	verdict := stats.Judge(value, margins)
	delta, _ := stats.HodgesLehmann(differences)
	m.Baseline = &result.Baseline{Network: catalog.Baseline, Value: weigh.Metric(baseline, q.Name).Value}
	m.Toll = &result.Toll{Value: value.Value, Verdict: string(verdict), Margin: w.plan.Margin}
	m.Toll.Low, m.Toll.High = ends(value, ok)
	m.Toll.Delta = result.Delta{Value: delta.Value}
	m.Toll.Delta.Low, m.Toll.Delta.High = ends(delta, ok)
	if verdict == stats.Inconclusive {
		m.Toll.BlocksToSay, _ = stats.BlocksNeeded(centre, len(ratios), margins, direction(q), 0.05)
	}
}

// perBlock are the values of a metric by block: two of a baseline.
func perBlock(c *result.Cell, metric string) map[int][]float64 {
	values := map[int][]float64{}
	for _, s := range c.Samples {
		if v, ok := s.Metrics[metric]; ok {
			values[s.Block] = append(values[s.Block], v)
		}
	}
	return values
}

// parentOf is a network's parent; that of one that is not known is the baseline.
func parentOf(name string) string {
	if n, ok := catalog.FindNetwork(name); ok && n.Parent != "" {
		return n.Parent
	}
	return catalog.Baseline
}
