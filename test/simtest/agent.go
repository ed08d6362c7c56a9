package simtest

import (
	"time"

	"tare/agent"
	"tare/protocol"
	"tare/workload"
)

// Request is what an agent is to do.
type Request struct {
	At, Role string // its place, as "vxlan.h1/c1", and its role
	Number   int    // of the requests to that place in that role, from 1
	agent.Job

	serves bool
}

// Serves reports whether it is the request to the end that serves, which owns no window here.
func (r Request) Serves() bool { return r.serves }

// Reply is what an agent does with a request: it measures, for as long as the run takes, or one of
// these.
type Reply struct {
	Tally workload.Tally
	Error string        // it refuses, at once
	Unfit bool          // the refusal is that the run does not fit here
	Late  time.Duration // it takes so much longer than the run
	Dies  bool          // at once
	Hangs bool          // it never answers, nor stops
}

// Model is how agents reply. It is called by several at once.
type Model func(Request) Reply

// simulated is the process at an end, so to speak.
type simulated struct {
	site     *Site
	at, role string
	stream   *protocol.Stream
	end      func() error
	stop     map[int]chan struct{} // of the jobs under way
	gone     chan struct{}         // closed when it has ended
}

// run greets and takes requests until its input ends.
func (a *simulated) run() {
	defer close(a.gone)
	greeting := agent.Greeting{
		Greeting: protocol.Greeting{Schema: agent.Schema, Version: "simulated"}, Boot: "simulated", Confinement: a.site.Confinement,
	}
	_ = protocol.Serve(a.stream, greeting, func(r *agent.Request) error { // which ends as its handle is closed
		if r.Do == protocol.Cancel {
			if stop, is := a.stop[r.ID]; is {
				close(stop)
				delete(a.stop, r.ID)
			}
			return nil
		}
		stop := make(chan struct{})
		a.stop[r.ID] = stop
		number := a.site.number(a.at, a.role)
		a.site.jobs.Go(func() { a.do(r, number, stop) })
		return nil
	})
}

// do carries out a request.
func (a *simulated) do(r *agent.Request, number int, stop <-chan struct{}) {
	does := a.site.Model(Request{At: a.at, Role: a.role, Number: number, Job: *r.Job, serves: r.Do == agent.DoServe})
	id := protocol.Reply{ID: r.ID}
	switch {
	case does.Dies:
		_ = a.end() // the handle finds why
		return
	case does.Hangs:
		<-a.gone
		return
	case does.Error != "":
		a.reply(agent.Reply{Reply: protocol.Reply{ID: r.ID, Error: does.Error}, Unfit: does.Unfit})
		return
	case r.Do == agent.DoServe:
		a.reply(agent.Reply{Reply: id, Listening: r.Job.Address})
	}
	select {
	case <-time.After(r.Job.Run.Warmup + r.Job.Run.Duration + does.Late):
		a.reply(agent.Reply{Reply: id, Tally: &does.Tally})
	case <-stop:
		a.reply(agent.Reply{Reply: protocol.Reply{ID: r.ID, Error: "stopped"}})
	case <-a.gone:
	}
}

// reply sends a reply. Where nobody reads it any more, the agent has been closed.
func (a *simulated) reply(r agent.Reply) { _ = a.stream.Write(r) }
