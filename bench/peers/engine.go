package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"sync"
	"time"

	"tare/agent"
	"tare/network"
	"tare/workload"
)

// engine is tare itself, in one mode of one workload.
type engine struct {
	way      string // distinguishes this row's runs
	workload string
	run      workload.Run // mode, flows, size and what else is asked for
}

func (e engine) label() string { return ours(e.way) }

// ours is the label of tare's run of a way.
func ours(way string) string { return "tare " + way }

func (e engine) commands(*stage) []string {
	return []string{fmt.Sprintf("tare: workload %s, mode %s, flows %d, size %d", e.workload, e.run.Mode, max(e.run.Flows, 1), e.run.Size)}
}

// measure does one run between the agents at both ends. A quarter of a window
// warms it up.
func (e engine) measure(ctx context.Context, s *stage) (values, error) {
	server, err := s.agent(ctx, s.server)
	if err != nil {
		return nil, err
	}
	client, err := s.agent(ctx, s.client)
	if err != nil {
		return nil, err
	}
	kind, known := workload.Find(e.workload)
	if !known {
		return nil, fmt.Errorf("workload %q: unknown", e.workload)
	}
	run := e.run
	run.Flows, run.Warmup, run.Duration = max(run.Flows, 1), s.window/4, s.window
	run.SharedCPU = s.placement == same
	if s.placement == plain {
		run.CC = congestion
	}
	token := make([]byte, 16)
	if _, err := rand.Read(token); err != nil {
		return nil, err
	}
	run.Token = hex.EncodeToString(token)
	at := netip.AddrPortFrom(s.addr, network.Port).String()
	var out agent.Outcome
	cores, err := s.metered(0, func() (err error) {
		out, err = agent.Measure(ctx, server, client, e.workload, run, at, at)
		return err
	})
	if err != nil {
		return nil, err
	}
	v := values{"cores": cores}
	for _, tally := range []workload.Tally{out.Server, out.Client} {
		maps.Copy(v, tally.Metrics)
		if kind.TCP && tally.CC != congestion {
			return nil, fmt.Errorf("%s: congestion control %q, not %s", e.label(), tally.CC, congestion)
		}
	}
	return v, nil
}

// agent returns the agent at an end, bound to the end's CPU. It stays for the
// runs that follow.
func (s *stage) agent(ctx context.Context, at end) (*agent.Handle, error) {
	if h, there := s.agents[at]; there && h.Broken() == nil {
		return h, nil
	}
	h, err := s.startAgent(ctx, at)
	if err == nil {
		s.agents[at] = h
	}
	return h, err
}

func (s *stage) startAgent(ctx context.Context, at end) (*agent.Handle, error) {
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
	return agent.Open(ctx, at.at, ourIn, ourOut, end)
}
