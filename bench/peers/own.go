package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"tare/network"
	"tare/traffic"
	"tare/traffic/http"
	"tare/traffic/tcprr"
)

// own is tare's engine in separate processes, as the peers are, for what an
// agent can't be asked.
type own struct {
	peer
	asked string // how the page describes the call
}

func (o own) label() string { return ours(o.way) }

func (o own) commands(*stage) []string { return []string{"tare: " + o.asked} }

// The verbs by which this program is an end of the engine.
const (
	serveRRVerb  = "serve-rr"
	callRRVerb   = "call-rr"
	callHTTPVerb = "call-http"
)

// self is this program.
func self() string {
	path, err := os.Executable()
	if err != nil {
		return "/proc/self/exe"
	}
	return path
}

// recorded is a closed loop over TCP with its histogram and a series of 100 ms,
// or without both.
func recorded(on bool) own {
	way := map[bool]string{true: "recording", false: "not recording"}[on]
	return own{asked: fmt.Sprintf("workload tcp_rr, mode block, flows 1, size %d, %s", message, way), peer: peer{
		way: way, read: readOwn,
		server: server{port: network.Port, once: true, argv: []string{self(), serveRRVerb, "ADDRESS", "WINDOW", way}},
		argv:   []string{self(), callRRVerb, "ADDRESS", "WINDOW", way},
	}}
}

// loopOf is the loop that both ends of recorded are called with, and where the
// server is. Its token keeps nobody out: nobody else is in the lab.
func loopOf(addr, window, way string) (netip.AddrPort, traffic.RequestResponse, error) {
	at, errAddr := netip.ParseAddr(addr)
	span, errSpan := time.ParseDuration(window)
	return netip.AddrPortFrom(at, network.Port), traffic.RequestResponse{
		Size: message, Unrecorded: way != recorded(true).way,
		Window: traffic.Window{Warmup: span / 4, Duration: span, Interval: 100 * time.Millisecond},
	}, errors.Join(errAddr, errSpan)
}

// serveRR is the answering end of recorded.
func serveRR(addr, window, way string) (err error) {
	likeAnAgent()
	at, loop, err := loopOf(addr, window, way)
	if err != nil {
		return err
	}
	l, err := traffic.ListenTCP(at)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	_, err = tcprr.Serve(context.Background(), l, loop)
	return err
}

// callRR is the asking end of recorded.
func callRR(addr, window, way string) error {
	likeAnAgent()
	at, loop, err := loopOf(addr, window, way)
	if err != nil {
		return err
	}
	done, err := tcprr.Call(context.Background(), at, loop)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(values{"rate": done.Rate()})
}

// httpCaller is the HTTP client in a mode, which calls the peers' server.
func httpCaller(mode http.Mode) own {
	return own{asked: fmt.Sprintf("http, mode %s, connections %d", mode, connections), peer: peer{
		way: string(mode), read: readOwn, server: nginxServer,
		argv: []string{self(), callHTTPVerb, fmt.Sprintf("ADDRESS:%d", nginxPort), "WINDOW", string(mode)},
	}}
}

// callHTTP is the process of httpCaller.
func callHTTP(addr, window, mode string) error {
	likeAnAgent()
	at, err := netip.ParseAddrPort(addr)
	if err != nil {
		return err
	}
	span, err := time.ParseDuration(window)
	if err != nil {
		return err
	}
	done, err := http.Call(context.Background(), at, http.Options{
		Mode: http.Mode(mode), Connections: connections,
		Window: traffic.Window{Warmup: span / 4, Duration: span},
	})
	if err != nil {
		return err
	}
	if len(done.NotOK)+len(done.Failures) > 0 {
		return fmt.Errorf("responses by status other than 2xx: %v; failures: %v", done.NotOK, done.Failures)
	}
	return json.NewEncoder(os.Stdout).Encode(values{"rate": done.Rate()})
}

// likeAnAgent sets the runtime as an agent does: nothing is collected in a
// window.
func likeAnAgent() {
	runtime.GOMAXPROCS(traffic.Processors(1))
	debug.SetGCPercent(-1)
}
