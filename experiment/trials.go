package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"tare/lab"
	"tare/network"
	"tare/network/kinds"
	"tare/probe"
	"tare/result"
	"tare/wire"
	"tare/workload"
)

const (
	// trialWait bounds one trial, so that a path that carries nothing is known
	// to within seconds, againWait one that is repeated, and longWait one that a busy machine may
	// only be late for: a SYN is sent again after 1 s and 3 s.
	trialWait = 1200 * time.Millisecond
	againWait = 600 * time.Millisecond
	longWait  = 5 * time.Second
	// emulatedTimes is how many times that an emulated CPU gets.
	emulatedTimes = 5
	// trialWindow is how long a trial exchanges messages, connectWindow one of several
	// connections, trainWindow how long datagrams follow each other, bulkWindow how long a
	// stream flows.
	trialWindow   = 5 * time.Millisecond
	connectWindow = time.Millisecond
	trainWindow   = 250 * time.Millisecond
	bulkWindow    = 200 * time.Millisecond
	// A path gets up to mostConnections, and none more once mostFailed did, or hopeless, of
	// which none passed. One failure alone is a moment's.
	mostConnections = 12
	mostFailed      = 3
	hopeless        = 4
	// largeTimes is how often a large message is sent, with a small one between, before it
	// counts as lost: under load one may be.
	largeTimes = 3
	// cutInto is how many full packets a datagram holds that travels in fragments.
	cutInto = 2
	// mostPorts is how many ports are tried where another server has the first.
	mostPorts = 16
	// A train has trainRate datagrams of trainSize bytes a second: few enough for
	// every receiver, and enough for a loss of a percent to show. One that loses
	// some is sent again: a busy machine's losses do not come back.
	trainRate  = 3000
	trainSize  = 64
	mostTrains = 3
	// mostMTU is the MTU of the loopback: a larger message would test nothing more.
	mostMTU = 9000
)

// trying is a path on which trials are made.
type trying struct {
	*examiner
	subject
	port uint16 // at which its server listens
	slow bool   // each trial may take longWait
	e    *result.Examination
}

// all does the trials of the path: the larger only where the small pass.
func (y *trying) all(ctx context.Context) {
	passed := y.smallPass(ctx)
	if y.occupied() || !passed {
		return
	}
	mtu := y.firstMTU(ctx)
	headers := wire.IPOf(y.ends.Dial).Header()
	full := mtu - headers - wire.UDPHeader
	if !y.largePass(ctx, checkTCP, workload.Run{Size: mtu - segmentHeaders(wire.IPOf(y.ends.Dial))}) || !y.largePass(ctx, checkUDP, workload.Run{Size: full}) {
		return
	}
	if y.back || y.cuts() && !y.largePass(ctx, checkUDP, workload.Run{Size: cutInto * full, Cut: true}) {
		return
	}
	train := workload.Run{Size: trainSize, Rate: trainRate * trainSize * 8, Duration: trainWindow}
	for range mostTrains {
		sent := y.trial(ctx, "udp_stream", train)
		if y.e.Trials = append(y.e.Trials, sent); sent.Metrics["loss"] == 0 {
			break
		}
	}
	if !y.restedPass(ctx) {
		return
	}
	stream := y.trial(ctx, "tcp_stream", workload.Run{Duration: bulkWindow})
	if stream.Error != "" { // a busy machine may stall one
		stream = y.trial(ctx, "tcp_stream", workload.Run{Duration: bulkWindow})
	}
	y.e.Trials = append(y.e.Trials, stream)
}

// smallPass tries small messages over TCP and UDP, and reports whether both pass. What fails is tried
// again where a second try can differ.
func (y *trying) smallPass(ctx context.Context) bool {
	tcp, udp := y.small(ctx, checkTCP), y.small(ctx, checkUDP)
	if udp.Error != "" && tcp.Error == "" { // a moment's, or one protocol's
		udp = y.small(ctx, checkUDP)
	}
	connections := []result.Trial{tcp}
	if tcp.Error == "" || udp.Error == "" || y.ends.Bind != y.ends.Dial {
		connections = y.connect(ctx, tcp)
	}
	y.e.Trials = append(connections, udp)
	passed := !slices.ContainsFunc(y.e.Trials, func(t result.Trial) bool { return t.Error != "" })
	if at := lab.IPv4Of(y.ends.Dial); !passed && at.IsValid() {
		y.overIPv4(ctx)
	}
	return passed
}

// connect opens more connections, as each may be led elsewhere.
func (y *trying) connect(ctx context.Context, first result.Trial) []result.Trial {
	all := []result.Trial{first}
	failed := func() (n int) {
		for _, t := range all {
			if t.Error != "" {
				n++
			}
		}
		return n
	}
	for ctx.Err() == nil && len(all) < mostConnections {
		n := failed()
		if n >= hopeless || n >= mostFailed && n < len(all) {
			break
		}
		all = append(all, y.trial(ctx, checkTCP, workload.Run{Duration: connectWindow}))
	}
	passed := failed() == 1 && len(all) == mostConnections
	if n := failed(); n > 1 && n < len(all) && !slices.ContainsFunc(all, func(t result.Trial) bool { return t.Error != "" && t.Failure() != result.Silent }) {
		again := y.connectSlowly(ctx)
		all, passed = append(all, again...), again[len(again)-1].Error == ""
	}
	if passed {
		all = slices.DeleteFunc(all, func(t result.Trial) bool { return t.Error != "" })
	}
	return all
}

// connectSlowly opens connections with time to spare, until one fails: where a path loses some, or a machine
// is late, all pass.
func (y *trying) connectSlowly(ctx context.Context) (all []result.Trial) {
	slow := *y
	slow.slow = true
	for range mostConnections {
		t := slow.trial(ctx, checkTCP, workload.Run{Duration: connectWindow})
		if all = append(all, t); t.Error != "" {
			break
		}
	}
	return all
}

// overIPv4 tries the ends' addresses of IPv4, for contrast.
func (y *trying) overIPv4(ctx context.Context) {
	over := *y
	over.ends.Bind, over.ends.Dial = lab.IPv4Of(y.ends.Bind), lab.IPv4Of(y.ends.Dial)
	for _, name := range []string{checkTCP, checkUDP} {
		t := over.trial(ctx, name, workload.Run{Duration: connectWindow})
		t.IP = int(wire.IPv4)
		y.e.Trials = append(y.e.Trials, t)
	}
}

// restedPass reports whether a connection of each protocol that was idle still carries a message, if
// that was asked for.
func (y *trying) restedPass(ctx context.Context) bool {
	if y.idle == 0 {
		return true
	}
	tried := make([]result.Examination, 2)
	var ended sync.WaitGroup
	for n, name := range []string{checkTCP, checkUDP} {
		ended.Go(func() {
			one := *y
			one.e = &tried[n]
			one.e.Trials = []result.Trial{one.trial(ctx, name, workload.Run{Idle: y.idle, Duration: trialWindow})}
		})
	}
	ended.Wait()
	for _, one := range tried {
		y.e.Trials, y.e.Readings = append(y.e.Trials, one.Trials...), append(y.e.Readings, one.Readings...)
	}
	return tried[0].Trials[0].Error == "" && tried[1].Trials[0].Error == ""
}

// cuts reports whether datagrams of the path may travel in fragments: a relay or a sandbox may take
// none that large.
func (y *trying) cuts() bool {
	kind, known := kinds.Find(y.built.Network)
	return known && !kind.Facts.Relays && !kind.Sandboxed && y.plan.Site == ""
}

// largePass reports whether messages of a size pass. One that does not is held against small
// ones in the same moments.
func (y *trying) largePass(ctx context.Context, name string, run workload.Run) bool {
	run.Duration = trialWindow
	tried := []result.Trial{y.trial(ctx, name, run)}
	for n := 1; n < largeTimes && tried[len(tried)-1].Error != ""; n++ {
		tried = append(tried, y.trial(ctx, name, workload.Run{Duration: connectWindow}),
			y.trial(ctx, name, run))
	}
	if last := tried[len(tried)-1]; last.Error == "" { // the first may have been what taught the sender the path's MTU
		y.e.Trials = append(y.e.Trials, last)
		return true
	}
	y.e.Trials = append(y.e.Trials, tried...)
	return false
}

func (y *trying) small(ctx context.Context, name string) result.Trial {
	return y.trial(ctx, name, workload.Run{Duration: trialWindow})
}

// occupied reports whether another server has the path's port, without which no trial can be
// made: nothing is known of its protocol then.
func (y *trying) occupied() bool {
	inUse := func(t result.Trial) bool { return t.Failure() == result.PortInUse }
	if !slices.ContainsFunc(y.e.Trials, inUse) {
		return false
	}
	y.e.Trials = slices.DeleteFunc(y.e.Trials, inUse)
	y.e.Unread = append(y.e.Unread, result.Unread{
		Source: "live trial " + strings.TrimSpace(y.path+" "+y.ends.Client+" -> "+y.ends.Server),
		Reason: fmt.Sprintf("port %d of %s is published, and another server has it: stop that to try the path", y.port, y.ends.Server),
	})
	return true
}

// firstMTU is the current MTU of the device by which the client's packets leave: a
// container's own may be larger than the path carries.
func (y *trying) firstMTU(ctx context.Context) int {
	mtu := y.e.Inner
	seen := y.e.Trials[0].Seen
	held, err := y.site.Look(ctx, y.built.Name+"."+y.ends.Client)
	if len(seen) == 0 || err != nil || len(held) == 0 {
		return mtu
	}
	at := slices.IndexFunc(held[0].Links, func(l probe.Link) bool { return l.Name == seen[0].Device && l.MTU > 0 })
	if at < 0 {
		return mtu
	}
	return min(held[0].Links[at].MTU, mostMTU)
}

// trial tries one run, and watches the devices that carry it. Where the port is another server's
// it takes the next, unless a host publishes that one.
func (y *trying) trial(ctx context.Context, name string, run workload.Run) result.Trial {
	kind, _ := workload.Find(name)
	run.Mode, run.Flows = kind.Modes[0], 1
	run.Size = cmp.Or(run.Size, kind.Size.Default)
	run.Size = max(kind.Size.Least, min(run.Size, kind.Size.Most))
	for n := 0; ; n++ {
		sample, seen, err := y.watched(ctx, name, run)
		t := result.Trial{Workload: name, Size: run.Size, Cut: run.Cut, Idle: run.Idle.Seconds(), Metrics: sample.Metrics, Counters: sample.Counters, Seen: seen}
		y.e.Readings = append(y.e.Readings, placed(sample.Readings, y.ends)...)
		if err != nil {
			t.Error = err.Error()
		}
		if t.Failure() != result.PortInUse || y.ends.Bind != y.ends.Dial || n == mostPorts {
			return t
		}
		y.port++
	}
}

// wait is how long a run may take: an emulated CPU, which others share, can need
// several seconds for what takes a moment elsewhere.
func (y *trying) wait(run workload.Run) time.Duration {
	wait := trialWait
	if run.Duration == connectWindow {
		wait = againWait
	}
	if y.slow {
		wait = longWait
	}
	if y.emulated {
		wait *= emulatedTimes
	}
	return wait + run.Idle + run.Duration
}

// watched does one run and reports which devices saw its packets.
func (y *trying) watched(ctx context.Context, name string, run workload.Run) (result.Sample, []result.Sighting, error) {
	cluster := y.built.Name
	// Both ends are there before the time counts: an engine may need longer than a trial to
	// start a process in a container.
	if _, err := y.pairOf(ctx, cluster, y.ends); err != nil {
		return result.Sample{}, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, y.wait(run))
	defer cancel()
	stop := func() ([]lab.Sighting, error) { return nil, nil }
	if w, can := y.site.(watcher); can && run.Duration == trialWindow { // more than a few packets are not worth copying
		var err error
		flow := lab.Flow{Port: y.port}
		if run.Size > trainSize {
			flow.Least = run.Size
		}
		if run.Cut { // only the first fragment has the ports
			flow.Least = run.Size / (cutInto + 1)
		}
		if stop, err = w.Watch(ctx, placesOf(cluster, y.ends), flow); err != nil {
			return result.Sample{}, nil, err
		}
	}
	sample, err := y.between(ctx, cluster, y.ends, y.port, name, run)
	sightings, errSeen := stop()
	var seen []result.Sighting // nil: nobody looked
	if sightings != nil {
		seen = []result.Sighting{}
	}
	for _, one := range sightings {
		seen = append(seen, result.Sighting{At: strings.TrimPrefix(one.Namespace, cluster+"."), Device: one.Device, Out: one.Out, Reply: one.Reply})
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
