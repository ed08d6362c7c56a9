// Package agent is the process at an end, and the handle to it.
//
// An agent receives orders on its standard input and answers on its standard
// output, one JSON object a line, with its number, length and digest. First it
// sends a hello; then it takes orders to serve or to send one run at a time, and
// to stop it. It opens no control port and holds no credentials: a site is only a
// way to start it.
package agent

import (
	"tare/probe"
	"tare/workload"
)

// Schema names the protocol; both sides must use the same.
const Schema = "tare.agent/2"

// Verb is the command by which this program is an agent.
const Verb = "agent"

// Hello is the first line of an agent.
type Hello struct {
	Schema  string `json:"schema"`
	Version string `json:"version"`
	Boot    string `json:"boot,omitempty"` // probe.BootID of its machine

	probe.Confinement
}

// The orders.
const (
	doServe = "serve"
	doSend  = "send"
	doStart = "start" // a real server; it ends when that is ready
	doStop  = "stop"
)

// order is a line to an agent.
type order struct {
	ID  int    `json:"id"`
	Do  string `json:"do"`
	Job *Job   `json:"job,omitempty"`
}

// Job is one end of one run.
type Job struct {
	Workload string       `json:"workload"`
	Run      workload.Run `json:"run"`
	Address  string       `json:"address"`       // where to listen, or where to send to
	Dir      string       `json:"dir,omitempty"` // below which a real server may write

	apart bool // the other end is on another machine
}

// answer is a line from an agent: where it listens, what it measured, or what
// went wrong.
type answer struct {
	ID        int             `json:"id"`
	Listening string          `json:"listening,omitempty"`
	Tally     *workload.Tally `json:"tally,omitempty"`
	Error     string          `json:"error,omitempty"`
	Unfit     bool            `json:"unfit,omitempty"` // the error is a traffic.UnfitError
}
