package peers

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"tare/bench/harness"
	"tare/network"
	"tare/traffic"
	"tare/traffic/tcprr"
	"tare/workload"
)

// subject is what takes its turn: tare in one mode, or another tool, called in one way.
type subject struct {
	program workload.Program // empty: this one
	server  server
	lead    time.Duration
	way     string // distinguishes the subjects of one program in a row
	asked   string // of tare: what the page shows in place of the calls
	argv    []string
	read    reading
}

func (s subject) name() string {
	return strings.TrimSpace(cmp.Or(s.program.Name, "tare") + " " + s.way)
}

// ours is the name of tare's run of a way.
func ours(way string) string { return subject{way: way}.name() }

// programs are those that it needs, other than this one.
func (s subject) programs() (all []workload.Program) {
	for _, p := range []workload.Program{s.program, s.server.program} {
		if p.Name != "" {
			all = append(all, p)
		}
	}
	return all
}

// commands are those that it is called with at a stage, as a person types them.
func (s subject) commands(at *stage) (all []string) {
	typed := func(side string, where end, argv []string) {
		line := side + "$ taskset -c " + where.cpu
		for _, word := range at.fill("FOLDER", argv...) {
			if strings.ContainsAny(word, " ;*?&") {
				word = "'" + word + "'"
			}
			line += " " + word
		}
		all = append(all, line)
	}
	if s.asked != "" {
		all = append(all, s.asked)
	}
	if s.server.Program != "" {
		typed("server", at.server, s.server.argv)
	}
	if s.asked == "" {
		typed("client", at.client, s.argv)
	}
	return all
}

// measure starts the server, runs the client and reads what they printed.
func (s subject) measure(ctx context.Context, at *stage) (values, error) {
	serving, err := at.serve(ctx, s.server)
	if err != nil {
		return nil, err
	}
	var out printed
	cores, err := harness.Metered(s.lead, at.window, func() (err error) {
		out.client, err = at.run(ctx, at.client, at.fill(at.folder, s.argv...))
		return err
	})
	grace := time.Duration(0)
	if s.server.Once && err == nil {
		grace = endWait
	}
	if err := errors.Join(err, serving.stop(grace)); err != nil {
		return nil, err
	}
	out.server = serving.out
	v, err := s.read.values(out)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w in %q", s.name(), err, out)
	}
	v["cores"] = cores
	return v, nil
}

// engine is tare itself, in one mode of one workload: both ends are processes, as those of the tools.
type engine struct {
	Way            string // empty: the mode
	Workload, Mode string
	Flows, Size    int
	Server         string // whom the client calls; empty: the other end of the engine
}

// unrecorded is the way of tcp_rr without its histogram.
const unrecorded = "not recording"

// subject has this program as each end. Its last word is the engine, and those before what depends on
// the stage.
func (e engine) subject(of server) (subject, error) {
	e.Flows = max(e.Flows, 1)
	asked := fmt.Sprintf("tare: workload %s, mode %s, flows %d, size %d", e.Workload, e.Mode, e.Flows, e.Size)
	if e.Way != "" {
		asked += ", " + e.Way
	}
	self, err := os.Executable()
	if err != nil {
		return subject{}, err
	}
	text, err := json.Marshal(e)
	end := func(role string) []string {
		return []string{self, engineVerb, role, "ADDRESS", "WINDOW", "PLACEMENT", string(text)}
	}
	if e.Server == "" {
		of = server{Port: network.Port, Once: true, argv: end("serve")}
	}
	return subject{server: of, way: cmp.Or(e.Way, e.Mode), asked: asked, argv: end("call"), read: reading{Run: "tare"}}, err
}

// runEngine is an end of the engine: its role, where the server is, the window, of which a quarter more
// warms it up, the placement and the engine. It prints what it measured. The runtime is set as an
// agent's: nothing is collected in a window.
func runEngine(args []string) error {
	var e engine
	addr, errAddr := netip.ParseAddr(args[1])
	span, errSpan := time.ParseDuration(args[2])
	if err := errors.Join(errAddr, errSpan, json.Unmarshal([]byte(args[4]), &e)); err != nil {
		return err
	}
	runtime.GOMAXPROCS(traffic.Processors(e.Flows))
	debug.SetGCPercent(-1)
	run := workload.Run{
		Token: strings.Repeat("0", 32), // it keeps nobody out: nobody else is in the lab
		Mode:  e.Mode, Flows: e.Flows, Size: e.Size, Warmup: span / 4, Duration: span, SharedCPU: args[3] == same,
	}
	if args[3] == plain {
		run.CC = congestion
	}
	at := netip.AddrPortFrom(addr, network.Port)
	if e.Server != "" {
		run.Path, at = "/", netip.AddrPortFrom(addr, nginxPort)
	}
	v, err := e.run(args[0], run, at)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(v)
}

// run is what an end measures.
func (e engine) run(role string, run workload.Run, at netip.AddrPort) (values, error) {
	ctx := context.Background()
	if e.Way != "" { // the loop that can be asked to record nothing
		return recorded(ctx, role, run, at, e.Way != unrecorded)
	}
	kind, _ := workload.Find(e.Workload)
	var tally workload.Tally
	var err error
	if role == "serve" {
		tally, err = kind.Serve(ctx, run, at, func(netip.AddrPort) error { return nil })
	} else {
		tally, err = kind.Send(ctx, run, at)
	}
	switch {
	case err != nil:
		return nil, err
	case e.Server != "" && len(tally.Warnings) > 0: // failed requests
		return nil, errors.New(strings.Join(tally.Warnings, "; "))
	case e.Server == "" && kind.TCP && tally.CC != congestion:
		return nil, fmt.Errorf("congestion control %q, not %s", tally.CC, congestion)
	}
	return tally.Metrics, nil
}

// recorded is an end of a closed loop over TCP with its histogram and a series of 100 ms, or without both.
func recorded(ctx context.Context, role string, run workload.Run, at netip.AddrPort, on bool) (v values, err error) {
	loop := traffic.RequestResponse{
		Size: run.Size, Unrecorded: !on,
		Window: traffic.Window{Warmup: run.Warmup, Duration: run.Duration, Interval: 100 * time.Millisecond},
	}
	if role == "call" {
		done, err := tcprr.Call(ctx, at, loop)
		return values{"rate": done.Rate()}, err
	}
	l, err := traffic.ListenTCP(at)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	_, err = tcprr.Serve(ctx, l, loop)
	return values{}, err
}

// ofEngine are the values of both ends.
func ofEngine(out printed) (values, error) {
	v := values{}
	for _, text := range [][]byte{out.server, out.client} {
		var end values
		if len(text) == 0 {
			continue // another server
		}
		if err := json.Unmarshal(text, &end); err != nil {
			return nil, err
		}
		maps.Copy(v, end)
	}
	return v, nil
}
