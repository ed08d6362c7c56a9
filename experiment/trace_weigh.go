package experiment

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"tare/catalog"
	"tare/result"
	"tare/trace"
)

// roundTrip is the metric that the hops of a round trip are scaled to.
const roundTrip = "rtt_p50"

// lossCounters are the counters of the kernel that count packets which are lost
// without being dropped anywhere, or why they are dropped (RFC 2011, RFC 2012 and
// net/ipv4/proc.c).
func lossCounters() []string {
	return []string{
		"Ip.InHdrErrors", "Ip.InAddrErrors", "Ip.InUnknownProtos", "Ip.InDiscards",
		"Ip.OutDiscards", "Ip.OutNoRoutes", "Ip.ReasmFails", "Ip.FragFails",
		"Icmp.InDestUnreachs", "Icmp.OutDestUnreachs",
		"Udp.NoPorts", "Udp.InErrors", "Udp.RcvbufErrors", "Udp.SndbufErrors", "Udp.InCsumErrors",
		"Tcp.AttemptFails", "Tcp.InErrs", "Tcp.InCsumErrors", "Tcp.RetransSegs",
		"TcpExt.ListenOverflows", "TcpExt.ListenDrops", "TcpExt.TCPBacklogDrop", "TcpExt.TCPRcvQDrop",
		"TcpExt.TCPZeroWindowDrop", "TcpExt.PruneCalled", "TcpExt.TCPTimeouts", "TcpExt.IPReversePathFilter",
	}
}

// begin begins to count at every place of a cluster; end adds to a sight the growth
// of the counters that show lost packets: those of the protocols, the drops of devices ("eth0 dropped"), and neighbours that do not answer
// ("neighbour 10.0.0.9 dev eth0", 1 for each).
func (t *tracing) begin(ctx context.Context, cluster string) (end func(*sight) error, err error) {
	c, can := t.Site.(counter)
	if !can {
		return func(*sight) error { return nil }, nil
	}
	var places []string
	for _, name := range t.namespacesOf(cluster) {
		places = append(places, cluster+"."+name)
	}
	stop, err := c.Count(ctx, places)
	if err != nil {
		return nil, err
	}
	return func(s *sight) error {
		counted, err := stop()
		if err != nil {
			return err
		}
		for _, r := range counted.Readings {
			s.grow(strings.TrimPrefix(r.At, cluster+"."), r.Counts)
		}
		return t.silent(ctx, s, places, cluster)
	}, nil
}

// silent adds the neighbours of places that do not answer.
func (t *tracing) silent(ctx context.Context, s *sight, places []string, cluster string) error {
	for _, at := range places {
		held, err := t.Site.Look(ctx, at)
		if err != nil {
			return err
		}
		for _, l := range held {
			for _, n := range l.Neighbours {
				if n.State == "failed" || n.State == "incomplete" {
					s.counted[countedAt{strings.TrimPrefix(at, cluster+"."), "neighbour " + n.Address + " dev " + n.Device}] = 1
				}
			}
		}
	}
	return nil
}

// grow adds by how much the counters of a place grew that show lost packets.
func (s *sight) grow(at string, counts map[string]float64) {
	for name, by := range counts {
		device, of, _ := strings.Cut(name, ".")
		switch {
		case slices.Contains(lossCounters(), name):
		case slices.Contains(dropCounters(), of):
			name = device + " dropped"
		default:
			continue
		}
		s.counted[countedAt{at, name}] += int64(by)
	}
}

// dropCounters are a device's counters of packets that it dropped.
func dropCounters() []string { return []string{"rx_dropped", "tx_dropped", "rx_errors", "tx_errors"} }

func (s *sight) counts() []result.Count {
	counts := []result.Count{}
	for of, value := range s.counted {
		if value > 0 {
			counts = append(counts, result.Count{Name: of.name, At: of.at, Value: value})
		}
	}
	slices.SortFunc(counts, func(a, b result.Count) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Name, b.Name))
	})
	return counts
}

// fillTraces puts what was seen into the cells, and compares each network's hops
// with those of its baseline.
func (t *tracing) fillTraces() {
	for key, s := range t.seen {
		t.recorder.cells[key].Trace = t.traceOf(t.recorder.cells[key], s)
	}
	for key, cell := range t.recorder.cells {
		baseline := t.recorder.cells[cellKey{group: key.group, network: catalog.Baseline}]
		if baseline != nil && cell != baseline && cell.Trace != nil && baseline.Trace != nil {
			cell.Trace.Tolls = tolls(cell.Trace, baseline.Trace)
		}
	}
	t.recorder.gather()
}

func (t *tracing) traceOf(cell *result.Cell, s *sight) *result.Trace {
	hops, whole := trace.Hops(s.path)
	tr := &result.Trace{
		Tier: int(t.tracers.tier()), Lacks: t.tracers.lacks(),
		Ways: whole.Ways, Mean: whole.Mean, Sum: whole.Sum, Hops: hops,
		Ledger: ledger(s), CPU: trace.Use(s.profiles),
	}
	if why := t.severed(cell); why != "" {
		tr.Lacks = append(tr.Lacks, why)
	}
	if t.tracers.tier() >= trace.Packets {
		compare(tr, cell.Samples, s.traced)
	}
	return tr
}

// compare compares the windows in which packets were followed with the clean ones,
// and scales the hops of round trips to the clean ones.
func compare(tr *result.Trace, clean, traced []result.Sample) {
	for _, name := range []string{roundTrip, "throughput", "rate"} {
		without, ok := typical(clean, name)
		with, okWith := typical(traced, name)
		if !ok || !okWith {
			continue
		}
		tr.Metric, tr.Clean, tr.Traced = name, without, with
		q, _ := result.QuantityOf(name)
		if tr.Overhead = with/without - 1; q.Better == result.Higher {
			tr.Overhead = 1 - with/without
		}
		break
	}
	if tr.Metric == roundTrip {
		for n := range tr.Hops {
			share := tr.Hops[n].Share * tr.Clean
			tr.Hops[n].Clean = &share
		}
	}
}

// typical is a metric over the samples that have it, each by the work that was
// done in its window: as the ways of packets are counted.
func typical(samples []result.Sample, name string) (float64, bool) {
	var sum, work float64
	for _, s := range samples {
		if v, has := s.Metrics[name]; has && v > 0 {
			sum, work = sum+v*s.Counters["work"], work+s.Counters["work"]
		}
	}
	return sum / work, work > 0
}

// ledger balances what was seen to be lost against what the workload missed.
func ledger(s *sight) *result.Ledger {
	l := &result.Ledger{Losses: []result.Loss{}, Others: []result.Loss{}, Counters: s.counts()}
	for _, sample := range s.traced {
		if lost, counts := sample.Counters["lost"]; counts {
			if l.Lost == nil {
				l.Lost = new(uint64)
			}
			*l.Lost += uint64(lost)
		}
	}
	for loss, packets := range s.path.Lost {
		into := &l.Others
		if loss.Mine && !loss.Harmless() {
			into = &l.Losses
			l.Found += packets
		}
		*into = append(*into, result.Loss{Reason: loss.Reason, At: loss.At, Device: loss.Device, Function: loss.Function, Packets: packets})
	}
	for _, list := range [][]result.Loss{l.Losses, l.Others} {
		slices.SortFunc(list, func(a, b result.Loss) int {
			return cmp.Or(cmp.Compare(b.Packets, a.Packets), cmp.Compare(a.At+a.Device+a.Reason+a.Function, b.At+b.Device+b.Reason+b.Function))
		})
	}
	return l
}

// tolls are the hops of a network against its baseline's, by name, in the
// order of the network's. Both are taken as traced: the tracer slows the same hops
// by the same time. The toll without the tracer is divided by their differences.
// nil: there is no toll to divide.
func tolls(of, baseline *result.Trace) []result.HopToll {
	toll, traced := of.Clean-baseline.Clean, of.Sum-baseline.Sum
	if of.Metric != roundTrip || baseline.Metric != roundTrip || toll <= 0 || traced <= 0 {
		return nil
	}
	var all []result.HopToll
	add := func(hops []result.Hop, into func(*result.HopToll, float64)) {
		for _, h := range hops {
			at := slices.IndexFunc(all, func(one result.HopToll) bool { return one.Name == h.Name })
			if at < 0 {
				at = len(all)
				all = append(all, result.HopToll{Name: h.Name})
			}
			into(&all[at], h.Mean)
		}
	}
	add(of.Hops, func(one *result.HopToll, s float64) { one.Value += s })
	add(baseline.Hops, func(one *result.HopToll, s float64) { one.Baseline += s })
	for n := range all {
		all[n].Share = (all[n].Value - all[n].Baseline) / traced
		all[n].Delta = all[n].Share * toll
	}
	return all
}
