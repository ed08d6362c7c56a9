package peers

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"tare/agent"
	"tare/bench/harness"
	"tare/network"
	"tare/traffic"
	"tare/workload"
)

// peer is another tool, called in one way.
type peer struct {
	program workload.Program
	server  server
	lead    time.Duration
	way     string
	argv    []string
	read    reading
}

func (p peer) about() label {
	return label{strings.TrimSpace(p.program.Name + " " + p.way), func(s *stage) []string {
		return []string{p.server.typed(s), "client$ " + typed(s.client.bound(s.fill("FOLDER", p.argv...)))}
	}}
}

// typed is how the server is started, as a person types it.
func (v server) typed(s *stage) string {
	return "server$ " + typed(s.server.bound(v.argv(s, "FOLDER")))
}

func (v server) argv(s *stage, folder string) []string {
	return s.fill(folder, strings.Fields(v.Call)...)
}

func (p peer) programs() []workload.Program { return []workload.Program{p.program, p.server.program} }

// measure starts the server, runs the client and reads what they printed.
func (p peer) measure(ctx context.Context, s *stage) (values, error) {
	out, cores, err := s.both(ctx, p.server, p.server.argv(s, s.folder), p.lead, s.fill(s.folder, p.argv...))
	if err != nil {
		return nil, err
	}
	v, err := p.read.values(out)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w in %q", p.about().name, err, out)
	}
	v["cores"] = cores
	return v, nil
}

// both runs a server and a client, whose CPU time is metered.
func (s *stage) both(ctx context.Context, of server, serve []string, lead time.Duration, call []string) (out printed, cores float64, err error) {
	serving, err := s.serve(ctx, of, serve)
	if err != nil {
		return out, 0, err
	}
	cores, err = harness.Metered(lead, s.window, func() (err error) {
		out.client, err = s.run(ctx, s.client, call)
		return err
	})
	grace := time.Duration(0)
	if of.Once && err == nil {
		grace = endWait
	}
	err = errors.Join(err, serving.stop(grace))
	out.server = serving.out
	return out, cores, err
}

// typed is a command as a person types it.
func typed(argv []string) string {
	words := make([]string, len(argv))
	for n, word := range argv {
		words[n] = word
		if strings.ContainsAny(word, " ;*?&") {
			words[n] = "'" + word + "'"
		}
	}
	return strings.Join(words, " ")
}

// engine is tare itself, in one mode of one workload.
type engine struct {
	Way            string // distinguishes this row's runs; empty: the mode
	Workload, Mode string
	Flows, Size    int
	Server         string // whom the client calls; empty: the other end of the engine
	Alone          bool   // both ends are processes as those of the peers, with histogram and series or without
	server         server
}

func (e engine) way() string { return cmp.Or(e.Way, e.Mode) }

func (e engine) programs() []workload.Program {
	if e.Server == "" {
		return nil
	}
	return []workload.Program{e.server.program}
}

func (e engine) about() label {
	return label{ours(e.way()), func(s *stage) []string {
		text := fmt.Sprintf("tare: workload %s, mode %s, flows %d, size %d", e.Workload, e.Mode, max(e.Flows, 1), e.Size)
		if e.Alone {
			text += ", " + e.Way
		}
		if e.Server != "" {
			return []string{text, e.server.typed(s)}
		}
		return []string{text}
	}}
}

// ours is the name of tare's run of a way.
func ours(way string) string { return "tare " + way }

// measure does one run between the agents at both ends, or of the client's against the row's server. A
// quarter of a window warms it up.
func (e engine) measure(ctx context.Context, s *stage) (values, error) {
	if e.Alone {
		return e.measureAlone(ctx, s)
	}
	run := workload.Run{
		Mode: e.Mode, Flows: max(e.Flows, 1), Size: e.Size, Warmup: s.window / 4, Duration: s.window, SharedCPU: s.placement == same,
	}
	if s.placement == plain {
		run.CC = congestion
	}
	client, err := s.agent(ctx, s.client)
	if err != nil {
		return nil, err
	}
	measure, stop, err := e.measuring(ctx, s, client, run)
	if err != nil {
		return nil, err
	}
	var out agent.Outcome
	cores, err := harness.Metered(0, s.window, func() (err error) {
		out, err = measure()
		return err
	})
	if err = errors.Join(err, stop()); err != nil {
		return nil, err
	}
	v := values{"cores": cores}
	for _, tally := range []workload.Tally{out.Server, out.Client} {
		maps.Copy(v, tally.Metrics)
		if kind, _ := workload.Find(e.Workload); kind.TCP && tally.CC != congestion && e.Server == "" {
			return nil, fmt.Errorf("%s: congestion control %q, not %s", e.about().name, tally.CC, congestion)
		}
		if e.Server != "" && len(tally.Warnings) > 0 {
			return nil, errors.New(strings.Join(tally.Warnings, "; "))
		}
	}
	return v, nil
}

// measuring is how a run is done, and what ends its server.
func (e engine) measuring(ctx context.Context, s *stage, client *agent.Handle, run workload.Run) (do func() (agent.Outcome, error), stop func() error, err error) {
	if e.Server != "" {
		serving, err := s.serve(ctx, e.server, e.server.argv(s, s.folder))
		if err != nil {
			return nil, nil, err
		}
		run.Path = "/"
		at := netip.AddrPortFrom(s.addr, uint16(e.server.Port)).String()
		return func() (agent.Outcome, error) {
			return client.Drive(ctx, agent.Job{Workload: e.Workload, Run: run, Address: at})
		}, func() error { return serving.stop(0) }, nil
	}
	server, err := s.agent(ctx, s.server)
	if err != nil {
		return nil, nil, err
	}
	token := make([]byte, 16)
	if _, err := rand.Read(token); err != nil {
		return nil, nil, err
	}
	run.Token = hex.EncodeToString(token)
	at := netip.AddrPortFrom(s.addr, network.Port).String()
	return func() (agent.Outcome, error) {
		return agent.Measure(ctx, server, client, e.Workload, run, at, at)
	}, func() error { return nil }, nil
}

// agent returns the agent at an end, bound to the end's CPU. It stays for the
// runs that follow.
func (s *stage) agent(ctx context.Context, at end) (*agent.Handle, error) {
	if h, there := s.agents[at]; there && h.Broken() == nil {
		return h, nil
	}
	theirIn, ourIn, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start agent at %s: %w", at.at, err)
	}
	ourOut, theirOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start agent at %s: %w", at.at, err), theirIn.Close(), ourIn.Close())
	}
	living, kill := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() {
		_, err := s.lab.Exec(living, at.at, at.bound([]string{self(), agent.Verb}), theirIn, theirOut, os.Stderr)
		ended <- errors.Join(err, theirIn.Close(), theirOut.Close())
	}()
	end := sync.OnceValue(func() error {
		kill()
		select {
		case err := <-ended:
			return errors.Join(err, ourOut.Close())
		case <-time.After(endWait):
			return fmt.Errorf("agent at %s did not end when it was interrupted", at.at)
		}
	})
	h, err := agent.Open(ctx, at.at, ourIn, ourOut, end)
	if err == nil {
		s.agents[at] = h
	}
	return h, err
}

// self is this program.
func self() string {
	path, err := os.Executable()
	if err != nil {
		return "/proc/self/exe"
	}
	return path
}

// unrecorded is the way of a closed loop over TCP without its histogram and its series of 100 ms, which
// no agent can be asked for.
const unrecorded = "not recording"

// measureAlone runs such a loop, or one with both, between two processes.
func (e engine) measureAlone(ctx context.Context, s *stage) (v values, err error) {
	argv := func(role string) []string {
		return []string{self(), aloneVerb, role, s.addr.String(), s.window.String(), fmt.Sprint(e.Size), e.Way}
	}
	out, cores, err := s.both(ctx, server{Port: network.Port, Once: true}, argv("serve"), 0, argv("call"))
	if err != nil {
		return nil, err
	}
	v = values{"cores": cores}
	return v, json.Unmarshal(out.client, &v)
}

// beAlone is an end of such a loop: its role, where the server is, the window, the size and the way. Its
// token keeps nobody out: nobody else is in the lab. The runtime is set as an agent's: nothing is
// collected in a window.
func beAlone(args []string) (err error) {
	runtime.GOMAXPROCS(traffic.Processors(1))
	debug.SetGCPercent(-1)
	var size int
	addr, errAddr := netip.ParseAddr(args[1])
	span, errSpan := time.ParseDuration(args[2])
	_, errSize := fmt.Sscan(args[3], &size)
	if err := errors.Join(errAddr, errSpan, errSize); err != nil {
		return err
	}
	at, loop := netip.AddrPortFrom(addr, network.Port), traffic.RequestResponse{
		Size: size, Unrecorded: args[4] == unrecorded,
		Window: traffic.Window{Warmup: span / 4, Duration: span, Interval: 100 * time.Millisecond},
	}
	if args[0] == "call" {
		done, err := traffic.CallTCPRR(context.Background(), at, loop)
		if err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(values{"rate": done.Rate()})
	}
	l, err := traffic.ListenTCP(at)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	_, err = traffic.ServeTCPRR(context.Background(), l, loop)
	return err
}
