package peers

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"tare/catalog"
	"tare/lab"
	"tare/result"
	"tare/site"
)

// The placements of the two ends on CPUs, beside "apart", where each end has a separate one.
const (
	same = "same" // both ends share one
	// plain: each has a separate one, in two namespaces with nothing but a veth pair
	// between them, no receive steering, and the machine's congestion control, which
	// the tools replace.
	plain = "plain"
	// live: apart, and GRO is on, so that the veths take the frames of a program.
	live = "live"
)

// congestion is the control of both ends, set by the lab's routes or, on a plain pair,
// by the tools.
const congestion = "cubic"

// end is one end of the path: where it is and the CPU it is bound to.
type end struct{ at, cpu string }

// stage is a lab with two ends in it.
type stage struct {
	placement      string
	window         time.Duration
	lab            *site.Lab
	client, server end
	addr           netip.Addr // of the server
	folder         string     // for what servers read, and what ends print
}

// openStage builds a lab with the path that the options name.
func openStage(ctx context.Context, o options, placement string) (_ *stage, err error) {
	usable, err := lab.UsableCPUs()
	if err != nil {
		return nil, err
	}
	cpus := [2]string{fmt.Sprint(usable[0]), fmt.Sprint(usable[0])}
	if placement != same {
		if len(usable) < 2 {
			return nil, errors.New("place the ends apart: this process may use one CPU only: give it two")
		}
		cpus[1] = fmt.Sprint(usable[1])
	}
	s := &stage{placement: placement, window: o.Window}
	if s.folder, err = os.MkdirTemp("", "tare-peers-"); err != nil {
		return nil, err
	}
	if s.lab, err = site.Start(ctx); err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.folder))
	}
	if placement == plain { // two hosts, and nothing but the pair between them
		o.Network, o.Path = catalog.Baseline, catalog.CrossHost
	}
	if err := s.build(ctx, o, cpus); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// nginxConfiguration answers every request with 16 bytes from memory, and never ends a connection
// by itself. Its user is root because that is the only one in the lab of an ordinary user.
//
//go:embed nginx.conf
var nginxConfiguration string

const nginxPort = 8080

// build sets up the network and finds the ends. A host that holds both has both
// CPUs; hosts apart have those of their end, and receive there.
func (s *stage) build(ctx context.Context, o options, cpus [2]string) error {
	cc := congestion
	if s.placement == plain {
		cc = "" // the machine's
	}
	spec := site.Spec{
		CC: cc, Pin: catalog.PinApart, RPS: s.placement != plain,
		CPUs: map[string]string{"h1": cpus[0], "h2": cpus[1]},
		Clusters: []site.ClusterSpec{{
			Name: "peers", Network: o.Network, Axes: result.Params{"nic": string(lab.NICFull), "mtu": 1500.0}, Hosts: 2, Containers: 2, Live: s.placement == live,
		}},
	}
	if catalog.Within(o.Path) {
		spec.CPUs["h1"] = strings.Join(cpus[:], ",")
	}
	if err := s.lab.Build(ctx, spec); err != nil {
		return err
	}
	built := s.lab.Topology.Clusters[0]
	if built.Error != "" {
		return errors.New(built.Error)
	}
	ends, serves := built.Paths[o.Path]
	if !serves || ends.Bind != ends.Dial {
		return fmt.Errorf("path %q of network %q: not one that can be compared: choose same-host or cross-host", o.Path, o.Network)
	}
	s.client, s.server, s.addr = end{ends.Client, cpus[0]}, end{ends.Server, cpus[1]}, ends.Bind
	return os.WriteFile(filepath.Join(s.folder, "nginx.conf"), []byte(s.fill(s.folder, nginxConfiguration)[0]), 0o600)
}

// close ends all that runs and removes the lab.
func (s *stage) close() error {
	return errors.Join(s.lab.Close(), os.RemoveAll(s.folder))
}

// fill puts a run in the place of the words in capitals: SECONDS is the window in whole seconds,
// rounded up, for tools that take no others.
func (s *stage) fill(folder string, argv ...string) []string {
	in := strings.NewReplacer(
		"ADDRESS", s.addr.String(), "FOLDER", folder, "URL", fmt.Sprintf("http://%s:%d/", s.addr, nginxPort), "WINDOW", s.window.String(),
		"PLACEMENT", s.placement,
		"SECONDS", strconv.Itoa(int((s.window+time.Second-1)/time.Second)),
		"FRACTION", strconv.FormatFloat(s.window.Seconds(), 'f', -1, 64),
	)
	filled := make([]string, len(argv))
	for n, word := range argv {
		filled[n] = in.Replace(word)
	}
	return filled
}

const (
	listenWait = 5 * time.Second // until a server listens
	endWait    = 5 * time.Second // until a process ends that was interrupted
)

// process is a command at one end of a stage.
type process struct {
	name      string
	interrupt context.CancelFunc
	done      chan struct{} // closed when it has ended
	err       error         // valid then: it did not run, or its exit status
	out       []byte        // valid then: what it printed on standard output
}

// start starts a command. What it prints goes to files, which a daemon that lives on can't keep from
// being read.
func (s *stage) start(ctx context.Context, at end, argv []string) (*process, error) {
	files := make([]*os.File, 3) // standard input, output and error
	for n := range files {
		file, err := os.CreateTemp(s.folder, "standard-")
		if err != nil {
			return nil, fmt.Errorf("start %s: %w", argv[0], err)
		}
		files[n] = file
	}
	ctx, interrupt := context.WithCancel(ctx)
	p := &process{name: argv[0], interrupt: interrupt, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		defer interrupt()
		status, err := s.lab.Exec(ctx, at.at, append([]string{"taskset", "-c", at.cpu}, argv...), files...)
		errs, texts := []error{err}, make([][]byte, len(files))
		for n, file := range files {
			texts[n], err = os.ReadFile(file.Name())
			errs = append(errs, err, file.Close(), os.Remove(file.Name()))
		}
		p.out, p.err = texts[1], errors.Join(errs...)
		if p.err == nil && status != 0 {
			p.err = fmt.Errorf("%s: exit status %d: %s", p.name, status, bytes.TrimSpace(append(texts[2], p.out...)))
		}
	}()
	return p, nil
}

// run runs a command to its end.
func (s *stage) run(ctx context.Context, at end, argv []string) (out []byte, err error) {
	p, err := s.start(ctx, at, argv)
	if err != nil {
		return nil, err
	}
	<-p.done
	return p.out, p.err
}

// stop gives a server some time to end by itself, and then interrupts it. Its exit status does not
// matter.
func (p *process) stop(grace time.Duration) error {
	for _, wait := range []time.Duration{grace, endWait} {
		select {
		case <-p.done:
			return nil
		case <-time.After(wait):
			p.interrupt()
		}
	}
	return fmt.Errorf("%s did not end when it was interrupted", p.name)
}

// serve starts a server and waits until it listens.
func (s *stage) serve(ctx context.Context, of server) (*process, error) {
	p, err := s.start(ctx, s.server, s.fill(s.folder, of.argv...))
	if err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(listenWait); ; {
		found, err := s.run(ctx, s.server, []string{"ss", "-Hlntu", "sport", "=", ":" + strconv.Itoa(of.Port)})
		if err == nil && len(bytes.TrimSpace(found)) > 0 {
			return p, nil
		}
		ended := false
		select {
		case <-p.done:
			ended = p.err != nil // one that serves in the background ends well
		default:
		}
		if err != nil || ended || time.Now().After(deadline) {
			stopped := p.stop(0)
			return nil, errors.Join(fmt.Errorf("%s does not listen on port %d", p.name, of.Port), err, stopped, p.err)
		}
	}
}
