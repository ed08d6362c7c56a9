package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"tare/catalog"
	"tare/lab"
	"tare/network"
	"tare/network/kinds"
	"tare/probe"
	"tare/result"
	"tare/site"
	"tare/wire"
	"tare/workload"
)

const (
	// trialWait bounds one trial, so that a path that carries nothing is known
	// to within seconds.
	trialWait = 1200 * time.Millisecond
	// emulatedTimes is how many times that an emulated CPU gets.
	emulatedTimes = 5
	// trialWindow is how long a trial exchanges messages, trainWindow how long
	// datagrams follow each other, bulkWindow how long a stream flows.
	trialWindow = 5 * time.Millisecond
	trainWindow = 250 * time.Millisecond
	bulkWindow  = 200 * time.Millisecond
	// A train has trainRate datagrams of trainSize bytes a second: few enough for
	// every receiver, and enough for a loss of a percent to show. One that loses
	// some is sent again: a busy machine's losses do not come back.
	trainRate  = 3000
	trainSize  = 64
	mostTrains = 3
	// mostMTU is the MTU of the loopback: a larger message would test nothing more.
	mostMTU = 9000
)

// Pair is two ends that the user chose.
type Pair struct {
	From, To string
	Path     string // the one meant, of those between the two; empty: any
}

// Examine tries every path of a lab's networks, or a pair of its places, with
// small and full-sized messages, a train of datagrams and a stream, and reads
// counters and states of the places on the way. It changes nothing.
func Examine(ctx context.Context, s Site, t site.Topology, pair *Pair) (all []result.Examination, err error) {
	plan, err := Narrow(Quick(), t)
	if err != nil {
		return nil, err
	}
	if plan.Site != "" {
		plan.Axes = plan.Axes.With("cc", t.Spec.CC) // empty: it differs
	}
	c := newConductor(plan, Options{Site: s, Topology: t})
	defer func() { err = errors.Join(err, c.close()) }()
	r := &examiner{conductor: c, topology: t, emulated: environmentOf(t).Emulated()}
	subjects, err := r.subjects(ctx, pair)
	if err != nil {
		return nil, err
	}
	for _, s := range subjects {
		one, err := r.examine(ctx, s)
		if err != nil {
			return all, err
		}
		all = append(all, one)
	}
	return all, ctx.Err()
}

// examiner tries paths, and measures none.
type examiner struct {
	*conductor
	topology site.Topology
	emulated bool // the CPU
}

// subject is a path to examine.
type subject struct {
	built site.Built
	path  string
	ends  network.Ends
}

// subjects are the paths of every network of the lab; the baseline's only if there
// is no other network.
func (r *examiner) subjects(ctx context.Context, pair *Pair) ([]subject, error) {
	if pair != nil {
		s, err := r.chosen(ctx, *pair)
		return []subject{s}, err
	}
	var all []subject
	alone := !slices.ContainsFunc(r.topology.Clusters, func(b site.Built) bool { return !b.Baseline })
	for n, b := range r.topology.Clusters {
		if b.Error != "" || b.Baseline && (!alone || n > 0) {
			continue
		}
		for _, path := range catalog.Paths() {
			if ends, served := b.Paths[path]; served {
				all = append(all, subject{b, path, ends})
			}
		}
	}
	return all, nil
}

// chosen is the path of a pair: one that the network serves, or the two places
// as they are.
func (r *examiner) chosen(ctx context.Context, pair Pair) (subject, error) {
	from, to := r.topology.Full(pair.From), r.topology.Full(pair.To)
	cluster, client, _ := strings.Cut(from, ".")
	other, server, _ := strings.Cut(to, ".")
	at := slices.IndexFunc(r.topology.Clusters, func(b site.Built) bool { return b.Name == cluster })
	switch {
	case at < 0 || other != cluster:
		return subject{}, &InputError{fmt.Sprintf("%s and %s: name two places of one network", pair.From, pair.To)}
	case client == server:
		return subject{}, &InputError{fmt.Sprintf("%s: name two places that differ", pair.From)}
	}
	built := r.topology.Clusters[at]
	for _, path := range catalog.Paths() {
		ends := built.Paths[path]
		meant := path == pair.Path || pair.Path == "" && ends.Bind == ends.Dial
		if ends.Client == client && ends.Server == server && meant {
			return subject{built, path, ends}, nil
		}
	}
	held, err := r.site.Look(ctx, to)
	if err != nil {
		return subject{}, err
	}
	addr, err := addressOf(held[0])
	return subject{built, "", network.Ends{Client: client, Server: server, Bind: addr, Dial: addr}}, err
}

// addressOf is the address at which others reach a place: that of its
// interface, not of a bridge.
func addressOf(place probe.Inventory) (netip.Addr, error) {
	var found netip.Addr
	for _, link := range place.Links {
		for _, prefix := range link.Addresses {
			if prefix.Addr().IsLoopback() {
				continue
			}
			if link.Name == lab.Device || !found.IsValid() {
				found = prefix.Addr()
			}
		}
	}
	if !found.IsValid() {
		return found, &InputError{fmt.Sprintf("%s has no IPv4 address: nobody can reach it", place.Namespace)}
	}
	return found, nil
}

// examine tries one path.
func (r *examiner) examine(ctx context.Context, s subject) (result.Examination, error) {
	kind, _ := kinds.Find(s.built.Network)
	mtu := s.built.Axes.Count("mtu")
	rules, _ := strconv.Atoi(s.built.Params[catalog.Rules]) // absent: none were asked for
	e := result.Examination{
		Cluster: s.built.Name, Network: s.built.Network, Fidelity: s.built.Fidelity, Path: s.path, Client: s.ends.Client, Server: s.ends.Server, Dial: s.ends.Dial.String(),
		NIC: s.built.Axes.Text("nic"), MTU: mtu, Inner: wire.InnerMTU(mtu, kind.Stack), Link: s.built.Axes.Linked(), Rules: rules,
		Places: s.ends.Places(),
	}
	places := placesOf(s.built.Name, s.ends)
	stop := func() (site.Counted, error) { return site.Counted{}, nil }
	var err error
	if r.sources.site != nil {
		if stop, err = r.sources.site.Count(ctx, places); err != nil {
			return e, err
		}
	}
	r.try(ctx, s, &e)
	counted, err := stop()
	if err != nil || ctx.Err() != nil {
		return e, errors.Join(err, ctx.Err())
	}
	e.Readings = append(e.Readings, counted.Readings...)
	e.Unread = probe.Unread(e.Unread, counted.Unread)
	for _, at := range places {
		if r.sources.site == nil {
			break
		}
		states, err := r.sources.site.States(ctx, []string{at})
		if err != nil { // one of an engine's own may hide its mounts
			states.Unread = append(states.Unread, result.Unread{Source: "settings of " + at, Reason: err.Error()})
		}
		e.States, e.Unread = append(e.States, states.States...), probe.Unread(e.Unread, states.Unread)
	}
	held, err := r.lookAt(ctx, places)
	if err != nil {
		return e, err
	}
	e.Addresses, e.Routes = addressing(s.built.Name, held)
	for n := range e.Readings {
		e.Readings[n].At = strings.TrimPrefix(e.Readings[n].At, s.built.Name+".")
	}
	for n := range e.States {
		e.States[n].At = strings.TrimPrefix(e.States[n].At, s.built.Name+".")
	}
	return e, nil
}

// try does the trials of one path: the larger only where the small pass. What
// fails is tried again only where a second try can differ.
func (r *examiner) try(ctx context.Context, s subject, e *result.Examination) {
	tcp, udp := r.small(ctx, s, e, checkTCP), r.small(ctx, s, e, checkUDP)
	if (tcp.Error == "") != (udp.Error == "") { // a moment's, or one protocol's
		tcp, udp = r.small(ctx, s, e, checkTCP), r.small(ctx, s, e, checkUDP)
	}
	e.Trials = []result.Trial{tcp, udp}
	if tcp.Error != "" || udp.Error != "" {
		return
	}
	mtu := r.firstMTU(ctx, s, e)
	large := r.trial(ctx, s, e, checkTCP, workload.Run{Size: mtu - segmentHeaders(wire.IPv4), Duration: trialWindow})
	if e.Trials = append(e.Trials, large); large.Error != "" {
		return
	}
	datagram := workload.Run{Size: mtu - wire.IPv4Header - wire.UDPHeader, Duration: trialWindow}
	if large = r.trial(ctx, s, e, checkUDP, datagram); large.Error != "" {
		large = r.trial(ctx, s, e, checkUDP, datagram) // the first may have been what taught the sender the path's MTU
	}
	if e.Trials = append(e.Trials, large); large.Error != "" {
		return
	}
	train := workload.Run{Size: trainSize, Rate: trainRate * trainSize * 8, Duration: trainWindow}
	for range mostTrains {
		sent := r.trial(ctx, s, e, "udp_stream", train)
		if e.Trials = append(e.Trials, sent); sent.Metrics["loss"] == 0 {
			break
		}
	}
	stream := r.trial(ctx, s, e, "tcp_stream", workload.Run{Duration: bulkWindow})
	if stream.Error != "" { // a busy machine may stall one
		stream = r.trial(ctx, s, e, "tcp_stream", workload.Run{Duration: bulkWindow})
	}
	e.Trials = append(e.Trials, stream)
}

func (r *examiner) small(ctx context.Context, s subject, e *result.Examination, name string) result.Trial {
	return r.trial(ctx, s, e, name, workload.Run{Duration: trialWindow})
}

// firstMTU is the current MTU of the device by which the client's packets leave: a
// container's own may be larger than the path carries.
func (r *examiner) firstMTU(ctx context.Context, s subject, e *result.Examination) int {
	mtu := e.Inner
	seen := e.Trials[0].Seen
	held, err := r.site.Look(ctx, s.built.Name+"."+s.ends.Client)
	if len(seen) == 0 || err != nil || len(held) == 0 {
		return mtu
	}
	for _, link := range held[0].Links {
		if link.Name == seen[0].Device && link.MTU > 0 {
			mtu = min(link.MTU, mostMTU)
		}
	}
	return mtu
}

// trial tries one run, and watches the devices that carry it.
func (r *examiner) trial(ctx context.Context, s subject, e *result.Examination, name string, run workload.Run) result.Trial {
	kind, _ := workload.Find(name)
	run.Mode, run.Flows = kind.Modes[0], 1
	run.Size = cmp.Or(run.Size, kind.Size.Default)
	run.Size = max(kind.Size.Least, min(run.Size, kind.Size.Most))
	sample, seen, err := r.watched(ctx, s, name, run)
	t := result.Trial{Workload: name, Size: run.Size, Metrics: sample.Metrics, Seen: seen}
	e.Readings = append(e.Readings, placed(sample.Readings, s.ends)...)
	if err != nil {
		t.Error = err.Error()
	}
	return t
}

// trialWait is how long a trial may take: an emulated CPU, which others share, can need
// several seconds for what takes a moment elsewhere.
func (r *examiner) trialWait() time.Duration {
	if r.emulated {
		return emulatedTimes * trialWait
	}
	return trialWait
}

// watched does one run and reports which devices saw its packets.
func (r *examiner) watched(ctx context.Context, s subject, name string, run workload.Run) (result.Sample, []result.Sighting, error) {
	// Both ends are there before the time counts: an engine may need longer than a trial to
	// start a process in a container.
	if _, err := r.pairOf(ctx, s.built.Name, s.ends); err != nil {
		return result.Sample{}, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, r.trialWait()+run.Duration)
	defer cancel()
	stop := func() ([]lab.Sighting, error) { return nil, nil }
	if w, can := r.site.(watcher); can && run.Duration == trialWindow { // more than a few packets are not worth copying
		var err error
		flow := lab.Flow{Port: r.built.port(s.built.Name, s.ends)}
		if run.Size > trainSize {
			flow.Least = run.Size
		}
		if stop, err = w.Watch(ctx, placesOf(s.built.Name, s.ends), flow); err != nil {
			return result.Sample{}, nil, err
		}
	}
	sample, err := r.between(ctx, s.built.Name, s.ends, r.built.port(s.built.Name, s.ends), name, run)
	sightings, errSeen := stop()
	var seen []result.Sighting // nil: nobody looked
	if sightings != nil {
		seen = []result.Sighting{}
	}
	for _, one := range sightings {
		seen = append(seen, result.Sighting{At: strings.TrimPrefix(one.Namespace, s.built.Name+"."), Device: one.Device, Out: one.Out, Reply: one.Reply})
	}
	return sample, seen, errors.Join(err, errSeen)
}

// placed sets the place of readings that belong to an end.
func placed(readings []result.Reading, ends network.Ends) []result.Reading {
	at := map[string]string{result.AtClient: ends.Client, result.AtServer: ends.Server}
	for n := range readings {
		readings[n].At = at[readings[n].End]
	}
	return readings
}

// addressing lists the addresses and routes of places of a cluster.
func addressing(cluster string, places []probe.Inventory) (addresses []result.Address, routes []result.Route) {
	for _, place := range places {
		at := strings.TrimPrefix(place.Namespace, cluster+".")
		for _, link := range place.Links {
			for _, prefix := range link.Addresses {
				addresses = append(addresses, result.Address{At: at, Device: link.Name, Prefix: prefix})
			}
		}
		for _, route := range place.Routes {
			route.At = at
			routes = append(routes, route)
		}
	}
	return addresses, routes
}
