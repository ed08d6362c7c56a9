package site

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"tare/catalog"
	"tare/engine"
	"tare/lab"
	"tare/network"
	"tare/result"
)

// The networks of these tests are made of real parts of a lab, with sleep for
// a daemon.
const sleeps = "sleep"

// toy is a network of an engine, whose hosts have one container each.
func toy(name, engineName string) network.Network {
	return network.Network{Network: catalog.Network{Name: name, Engine: engineName}, SetUp: container}
}

func TestNetworksOfAnEngineShareHosts(t *testing.T) {
	find := func(name string) (network.Network, bool) {
		of, _, _ := strings.Cut(name, ":")
		switch of {
		case "plain":
			return toy(name, ""), true
		case "own":
			n := toy(name, "")
			n.Needs = []engine.Need{{What: "d"}}
			return n, true
		}
		return toy(name, of), true
	}
	two := func(name string, change ...func(*ClusterSpec)) ClusterSpec {
		s := ClusterSpec{Name: name, Network: name, Axes: result.Params{"nic": "full", "mtu": 1500.0}, Hosts: 2}
		for _, c := range change {
			c(&s)
		}
		return s
	}
	specs := []ClusterSpec{
		two("plain:a"), two("docker:a"), two("own:a"), two("docker:b"), two("plain:b"), two("own:b"), two("ovs:a"),
		two("docker:a", func(s *ClusterSpec) { s.Axes["nic"] = "tso" }),
		two("docker:a", func(s *ClusterSpec) { s.Hosts = 3 }),
		two("docker:a", func(s *ClusterSpec) { s.Params = map[string]string{"rules": "9"} }),
		two("docker:b", func(s *ClusterSpec) { s.Params = map[string]string{"rules": "9"} }),
		two("docker:a", func(s *ClusterSpec) { s.Axes["ip"] = 6.0 }),
	}
	want := "[[0 4] [1 3] [2] [5] [6] [7] [8] [9 10] [11]]"
	if got := fmt.Sprint(byEngine(specs, find)); got != want {
		t.Errorf("grouped as %s, want %s", got, want)
	}
}

// engineTests run as the init of a lab: TestLabUserEngines starts it.
func engineTests() error {
	if err := lab.Enter(); err != nil {
		return err
	}
	l := lab.New(lab.Config{CC: "cubic", Pin: catalog.PinNone})
	return errors.Join(failsHalfway(l), engineThatFails(l), missingPart(l), l.Close())
}

// Engines makes engineTests a verb of the test binary.
func Engines() error { return engineTests() }

// daemonIn starts a daemon in a host and remembers it.
func daemonIn(started *[]*lab.Process) func(h *lab.Host) error {
	return func(h *lab.Host) error {
		p, err := h.StartDaemon(lab.Daemon{Name: "d", Argv: []string{sleeps, "1000"}})
		*started = append(*started, p)
		return err
	}
}

// engineOf is how an engine is started that needs nothing of its networks.
func engineOf(start func(*lab.Cluster) error) func(*lab.Cluster, *network.Setup) error {
	return func(cluster *lab.Cluster, _ *network.Setup) error { return start(cluster) }
}

func onEach(do func(h *lab.Host) error) func(cluster *lab.Cluster) error {
	return func(cluster *lab.Cluster) error {
		for _, h := range cluster.Hosts {
			if err := do(h); err != nil {
				return err
			}
		}
		return nil
	}
}

// container adds one to each host.
func container(cluster *lab.Cluster, _ *network.Setup) error {
	return onEach(func(h *lab.Host) error {
		c, err := h.AddContainer()
		if err != nil {
			return err
		}
		return c.Create()
	})(cluster)
}

func runs(p *lab.Process) bool {
	select {
	case <-p.Done:
		return false
	default:
		return true
	}
}

func specNamed(name string) ClusterSpec {
	return ClusterSpec{Name: name, Network: name, Axes: result.Params{"nic": string(lab.NICFull), "mtu": 1500.0}, Hosts: 2}
}

// mentions returns an error unless err contains the text.
func mentions(err error, text string) error {
	if err == nil || !strings.Contains(err.Error(), text) {
		return fmt.Errorf("want %q, got: %w", text, err)
	}
	return nil
}

// failsHalfway has a network that fails after it made a container and a daemon: its
// own are removed, its engine and its neighbour stay.
func failsHalfway(l *lab.Lab) error {
	var engines, own []*lab.Process
	start := onEach(daemonIn(&engines))
	whole, half := toy("whole", "e"), toy("half", "e")
	whole.StartEngine, half.StartEngine = engineOf(start), engineOf(start)
	half.SetUp = func(cluster *lab.Cluster, setup *network.Setup) error {
		if err := errors.Join(container(cluster, setup), onEach(daemonIn(&own))(cluster)); err != nil {
			return err
		}
		return errors.New("add route: no such device")
	}
	e := &sharedHosts{spec: specNamed("half")}
	_, errHalf := e.setUpNetwork(l, half, specNamed("half"), &network.Setup{})
	cluster, err := e.setUpNetwork(l, whole, specNamed("whole"), &network.Setup{})
	errs := []error{mentions(errHalf, "set up network half: add route: no such device"), err}
	if len(engines) != 2 || !runs(engines[0]) || !runs(engines[1]) {
		errs = append(errs, fmt.Errorf("%d daemons of the engine, or they do not run", len(engines)))
	}
	for _, p := range own {
		<-p.Done
	}
	for at, there := range map[string]bool{"half.h1": false, "half.h1/c1": false, "whole.h1/c1": true, "engine-half.h1": true} {
		if _, err := l.Find(at); (err == nil) != there {
			errs = append(errs, fmt.Errorf("%s is there: %t", at, err == nil))
		}
	}
	e.used = cluster != nil
	if errs = append(errs, e.end(l)); !runs(engines[0]) {
		errs = append(errs, errors.New("an engine that is used was ended"))
	}
	// The last network is removed, and none uses the engine.
	e.used = false
	errs = append(errs, l.Remove(cluster), e.end(l))
	for _, p := range engines {
		<-p.Done
	}
	return errors.Join(errs...)
}

// engineThatFails starts on one host only: both networks get the error, it is not
// tried twice, and what was started is gone.
func engineThatFails(l *lab.Lab) error {
	var started []*lab.Process
	start := daemonIn(&started)
	ofEngine := onEach(func(h *lab.Host) error {
		if h.Number == 2 {
			return errors.New("no socket yet")
		}
		return start(h)
	})
	e := &sharedHosts{spec: specNamed("first")}
	var errs []error
	for _, name := range []string{"first", "second"} {
		n := toy(name, "e")
		n.StartEngine = engineOf(ofEngine)
		_, err := e.setUpNetwork(l, n, specNamed(name), &network.Setup{})
		errs = append(errs, mentions(err, "start engine e: no socket yet"))
	}
	if len(started) != 1 {
		errs = append(errs, fmt.Errorf("%d daemons were started", len(started)))
	}
	for _, p := range started {
		<-p.Done
	}
	if _, err := l.Find("engine-first.h1"); err == nil {
		errs = append(errs, errors.New("the hosts of an engine that failed are there"))
	}
	return errors.Join(append(errs, e.end(l))...)
}

// missingPart has a network whose part is not here: no engine is started for
// it, and the error names how to get it.
func missingPart(l *lab.Lab) error {
	n := toy("n", "e")
	n.StartEngine = func(*lab.Cluster, *network.Setup) error { return errors.New("it was started") }
	n.Needs = []engine.Need{{What: "d", Get: "apt-get install d", Find: func() (string, error) { return "", errors.New("absent") }}}
	e := &sharedHosts{spec: specNamed("n")}
	_, err := e.setUpNetwork(l, n, specNamed("n"), &network.Setup{})
	if missing := new(engine.MissingError); !errors.As(err, &missing) || missing.Get != "apt-get install d" {
		return fmt.Errorf("a network without its part: %w", err)
	}
	return mentions(err, "d: absent: apt-get install d")
}
