package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
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

// seconds is the window in whole seconds, rounded up, for tools that know no
// other.
func (c call) seconds() string {
	return strconv.Itoa(int((c.window + time.Second - 1) / time.Second))
}

// fraction is the window in seconds.
func (c call) fraction() string { return strconv.FormatFloat(c.window.Seconds(), 'f', -1, 64) }

// server is the other end of a peer.
type server struct {
	tool tool
	port int  // where it listens for the client
	once bool // it ends by itself after one client
	argv func(c call) []string
}

// printed is what the two ends of a run printed on their standard output.
type printed struct{ client, server []byte }

// peer is another tool, called in one way.
type peer struct {
	tool   tool
	way    string // which of the tool's calls in a row this is, where it has several
	server server
	argv   func(c call) []string
	read   func(out printed) (values, error)
}

func (p peer) label() string { return strings.TrimSpace(p.tool.command + " " + p.way) }

// tools are the programs that it needs, other than this one.
func (p peer) tools() []tool {
	return slices.DeleteFunc([]tool{p.tool, p.server.tool}, func(t tool) bool { return t.command == "" })
}

func (p peer) commands(s *stage) []string {
	c := s.call()
	c.folder = folderWord
	return []string{
		"server$ " + typed(s.server.bound(p.server.argv(c))),
		"client$ " + typed(s.client.bound(p.argv(c))),
	}
}

// measure starts the server, runs the client and reads what they printed.
func (p peer) measure(ctx context.Context, s *stage) (values, error) {
	serving, err := s.start(ctx, s.server, p.server.argv(s.call()))
	if err != nil {
		return nil, err
	}
	if err := s.awaitListener(ctx, p.server.port, serving); err != nil {
		return nil, errors.Join(err, serving.stop(0))
	}
	var out printed
	cores, err := s.metered(p.tool.lead, func() error {
		calling, err := s.start(ctx, s.client, p.argv(s.call()))
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

// bulk names a way to send bulk data: the bytes of a write, and the flows where
// they are several.
func bulk(write, flows int) string {
	way := fmt.Sprintf("%dK", write>>10)
	if flows > 1 {
		way += fmt.Sprintf(", %d flows", flows)
	}
	return way
}

// parallel are the arguments that iperf takes for several flows.
func parallel(flows int) []string {
	if flows == 1 {
		return nil
	}
	return []string{"-P", strconv.Itoa(flows)}
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

// number reads the first group of the last match.
func number(pattern *regexp.Regexp, text []byte) (float64, error) {
	all := pattern.FindAllSubmatch(text, -1)
	if len(all) == 0 {
		return 0, fmt.Errorf("no %s", pattern)
	}
	return strconv.ParseFloat(string(all[len(all)-1][1]), 64)
}

// numbers reads the groups of the last match.
func numbers(pattern *regexp.Regexp, text []byte) ([]float64, error) {
	all := pattern.FindAllSubmatch(text, -1)
	if len(all) == 0 {
		return nil, fmt.Errorf("no %s", pattern)
	}
	var found []float64
	for _, group := range all[len(all)-1][1:] {
		value, err := strconv.ParseFloat(string(group), 64)
		if err != nil {
			return nil, err
		}
		found = append(found, value)
	}
	return found, nil
}
