package experiment

import (
	"context"
	"slices"
	"time"

	"tare/catalog"
	"tare/lab"
	"tare/network/kinds"
	"tare/result"
	"tare/site"
)

// meter is a site that can report the CPU time of its processes.
type meter interface {
	Usage(ctx context.Context) ([]lab.Usage, error)
}

// daemons adds up what the daemons of other networks use of the CPUs while one
// is measured, or before several take turns.
type daemons struct {
	site    meter             // nil: no network has any
	engines map[string]string // cluster -> the one whose hosts it shares
	span    time.Duration     // of all runs
	most    float64           // in cores
	each    map[string]time.Duration
}

func daemonsOf(s Site, t site.Topology) daemons {
	d := daemons{engines: map[string]string{}, each: map[string]time.Duration{}}
	has := false
	for _, b := range t.Clusters {
		n, _ := kinds.Find(b.Network)
		has = has || (len(n.Needs) > 0 || b.Params[catalog.With] != "") && b.Error == ""
		d.engines[b.Name] = b.Engine
	}
	if m, can := s.(meter); can && has {
		d.site = m
	}
	return d
}

// read gives what each program has used so far; nil: it can't be read.
func (d *daemons) read(ctx context.Context) []lab.Usage {
	if d.site == nil {
		return nil
	}
	usage, err := d.site.Usage(ctx)
	if err != nil {
		return nil // the run itself reports what is wrong with the site
	}
	return usage
}

// idleLook is how long the daemons are watched before runs take turns.
const idleLook = 30 * time.Millisecond

// watch counts what the daemons use while no run is under way. Of runs that take turns
// all networks carry traffic at the time, so that no daemon is known to be idle; the
// baseline has no daemon.
func (d *daemons) watch(ctx context.Context) {
	before, began := d.read(ctx), time.Now()
	if before == nil {
		return
	}
	select {
	case <-ctx.Done():
	case <-time.After(idleLook):
		d.add(catalog.Baseline, before, d.read(ctx), time.Since(began))
	}
}

// add counts one run on a cluster, by the CPU time used before and after it.
func (d *daemons) add(cluster string, before, after []lab.Usage, took time.Duration) {
	if before == nil || after == nil || took <= 0 {
		return
	}
	engine := d.engines[cluster]
	var sum time.Duration
	for _, now := range after {
		at := slices.IndexFunc(before, func(b lab.Usage) bool { return b.Cluster == now.Cluster && b.Name == now.Name })
		own := now.Cluster == cluster || engine != "" && now.Cluster == engine
		if at < 0 || own {
			continue // one that has just been started, or the network's
		}
		if used := now.CPU - before[at].CPU; used > 0 { // less: one of them has ended
			sum += used
			d.each[now.Name] += used
		}
	}
	d.span += took
	d.most = max(d.most, sum.Seconds()/took.Seconds())
}

// result is nil where nothing was read.
func (d *daemons) result() *result.Daemons {
	if d.span == 0 {
		return nil
	}
	res := &result.Daemons{Most: d.most, Each: map[string]float64{}}
	for name, used := range d.each {
		res.Each[name] = used.Seconds() / d.span.Seconds()
		res.CPU += res.Each[name]
	}
	return res
}
