package simtest

import (
	"time"

	"tare/agent"
	"tare/workload"
)

// The orders of the protocol, and what is said in answer to them.
const (
	doServe = "serve"
	doStop  = "stop"
)

type order struct {
	ID  int        `json:"id"`
	Do  string     `json:"do"`
	Job *agent.Job `json:"job"`
}

type answer struct {
	ID        int             `json:"id"`
	Listening string          `json:"listening,omitempty"`
	Tally     *workload.Tally `json:"tally,omitempty"`
	Error     string          `json:"error,omitempty"`
	Unfit     bool            `json:"unfit,omitempty"`
}

// Order is what an agent is to do.
type Order struct {
	At, Role string // its place, as "vxlan.h1/c1", and its role
	Number   int    // of the orders to that place in that role, from 1
	agent.Job

	serves bool
}

// Serves reports whether it is the order to the end that serves, which owns no window here.
func (o Order) Serves() bool { return o.serves }

// Reply is what an agent does with an order: it measures, for as long as the run takes, or one of
// these.
type Reply struct {
	Tally workload.Tally
	Error string        // it refuses, at once
	Unfit bool          // the refusal is that the run does not fit here
	Late  time.Duration // it takes so much longer than the run
	Dies  bool          // at once
	Hangs bool          // it never answers, nor stops
}

// Model is how agents do their orders. It is called by several at once.
type Model func(Order) Reply

// simulated is the process at an end, so to speak.
type simulated struct {
	site     *Site
	at, role string
	stream   *agent.Frames
	end      func() error
	stop     map[int]chan struct{} // of the jobs under way
	gone     chan struct{}         // closed when it has ended
}

// run says hello and takes orders until its input ends.
func (a *simulated) run() {
	defer close(a.gone)
	hello := agent.Hello{Schema: agent.Schema, Version: "simulated", Boot: "simulated", Confinement: a.site.Confinement}
	if err := a.stream.Write(hello); err != nil {
		return
	}
	for {
		var o order
		if err := a.stream.Read(&o); err != nil {
			return
		}
		if o.Do == doStop {
			if stop, is := a.stop[o.ID]; is {
				close(stop)
				delete(a.stop, o.ID)
			}
			continue
		}
		stop := make(chan struct{})
		a.stop[o.ID] = stop
		number := a.site.number(a.at, a.role)
		a.site.jobs.Go(func() { a.do(o, number, stop) })
	}
}

// do carries out an order.
func (a *simulated) do(o order, number int, stop <-chan struct{}) {
	reply := a.site.Model(Order{At: a.at, Role: a.role, Number: number, Job: *o.Job, serves: o.Do == doServe})
	switch {
	case reply.Dies:
		_ = a.end() // the handle finds why
		return
	case reply.Hangs:
		<-a.gone
		return
	case reply.Error != "":
		a.answer(answer{ID: o.ID, Error: reply.Error, Unfit: reply.Unfit})
		return
	case o.Do == doServe:
		a.answer(answer{ID: o.ID, Listening: o.Job.Address})
	}
	select {
	case <-time.After(o.Job.Run.Warmup + o.Job.Run.Duration + reply.Late):
		a.answer(answer{ID: o.ID, Tally: &reply.Tally})
	case <-stop:
		a.answer(answer{ID: o.ID, Error: "stopped"})
	case <-a.gone:
	}
}

// answer sends an answer. Where nobody reads it any more, the agent has been closed.
func (a *simulated) answer(an answer) { _ = a.stream.Write(an) }
