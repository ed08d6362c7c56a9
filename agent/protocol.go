// Package agent is the process at an end, and the handle to it.
//
// An agent receives requests on its standard input and replies on its standard output (package
// protocol). First it sends a greeting; then it takes requests to serve or to send one run at a
// time, and to cancel it. It opens no control port and holds no credentials: a site is only a
// way to start it.
package agent

import (
	"tare/probe"
	"tare/protocol"
	"tare/workload"
)

// Schema names the protocol of agents; both sides must use the same.
const Schema = "tare.agent/3"

// Verb is the command by which this program is an agent.
const Verb = "agent"

// Greeting is the first message of an agent.
type Greeting struct {
	protocol.Greeting
	Boot string `json:"boot,omitempty"` // probe.BootID of its machine

	probe.Confinement
}

// What an agent can be asked, besides to cancel that.
const (
	DoServe = "serve"
	DoSend  = "send"
	DoStart = "start" // a real server; the reply comes when that is ready
)

// Request is a message to an agent.
type Request struct {
	protocol.Request
	Job *Job `json:"job,omitempty"`
}

// Job is one end of one run.
type Job struct {
	Workload string       `json:"workload"`
	Run      workload.Run `json:"run"`
	Address  string       `json:"address"`       // where to listen, or where to send to
	Dir      string       `json:"dir,omitempty"` // below which a real server may write

	apart bool // the other end is on another machine
}

// Reply is a message of an agent: where it listens, what it measured, or what went wrong.
type Reply struct {
	protocol.Reply
	Listening string          `json:"listening,omitempty"`
	Tally     *workload.Tally `json:"tally,omitempty"`
	Unfit     bool            `json:"unfit,omitempty"` // the error is a traffic.UnfitError
}
