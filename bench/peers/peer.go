package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"tare/workload"
)

// values are what one run measured, by the metric's name in a result, in SI
// units.
type values map[string]float64

// call is what a tool has to know to be called.
type call struct {
	addr   string        // of the server
	window time.Duration // how long to run
	folder string        // with the configurations of servers
}

// fill puts the call in the place of the words in capitals: SECONDS is the
// window in whole seconds, rounded up, for tools that take no others.
func (c call) fill(argv []string) []string {
	in := strings.NewReplacer(
		"ADDRESS", c.addr, "FOLDER", c.folder, "URL", fmt.Sprintf("http://%s:%d/", c.addr, nginxPort), "WINDOW", c.window.String(),
		"SECONDS", strconv.Itoa(int((c.window+time.Second-1)/time.Second)),
		"FRACTION", strconv.FormatFloat(c.window.Seconds(), 'f', -1, 64),
	)
	filled := make([]string, len(argv))
	for n, word := range argv {
		filled[n] = in.Replace(word)
	}
	return filled
}

// server is the other end of a peer.
type server struct {
	program workload.Program
	port    int  // where it listens for the client
	once    bool // it ends by itself after one client
	argv    []string
}

// peer is another tool, called in one way.
type peer struct {
	program workload.Program
	lead    time.Duration // from its start to its traffic, where that is long
	way     string        // which of the tool's calls in a row this is, where it has several
	server  server
	argv    []string
	read    reader
}

func (p peer) label() string { return strings.TrimSpace(p.program.Name + " " + p.way) }

// programs are those that it needs, other than this one.
func (p peer) programs() []workload.Program {
	return slices.DeleteFunc([]workload.Program{p.program, p.server.program}, func(w workload.Program) bool { return w.Name == "" })
}

func (p peer) commands(s *stage) []string {
	c := s.call()
	c.folder = folderWord
	return []string{
		"server$ " + typed(s.server.bound(c.fill(p.server.argv))),
		"client$ " + typed(s.client.bound(c.fill(p.argv))),
	}
}

// measure starts the server, runs the client and reads what they printed.
func (p peer) measure(ctx context.Context, s *stage) (values, error) {
	serving, err := s.start(ctx, s.server, s.call().fill(p.server.argv))
	if err != nil {
		return nil, err
	}
	if err := s.awaitListener(ctx, p.server.port, serving); err != nil {
		return nil, errors.Join(err, serving.stop(0))
	}
	var out printed
	cores, err := s.metered(p.lead, func() error {
		calling, err := s.start(ctx, s.client, s.call().fill(p.argv))
		if err != nil {
			return err
		}
		err = calling.wait()
		out.client = calling.out
		return err
	})
	grace := time.Duration(0)
	if p.server.once && err == nil {
		grace = endWait
	}
	if err = errors.Join(err, serving.stop(grace)); err != nil {
		return nil, err
	}
	out.server = serving.out
	v, err := p.read(out)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w in %q", p.label(), err, out)
	}
	v["cores"] = cores
	return v, nil
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
