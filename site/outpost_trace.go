package site

import (
	"errors"

	"tare/trace"
)

// tracing is the tracer of an outpost. It sees all packets of its machine; one pass at a time
// is under way, and ends with the outpost.
type tracing struct {
	tracer *trace.Tracer
	end    func() (seen, error) // of the pass that is under way; nil: there is none
}

// seen is what was seen in a pass.
type seen struct {
	Path    trace.Path    `json:"path"`
	Profile trace.Profile `json:"profile"`
}

// trace carries out what is wished of the tracer. A pass runs beside the wishes that follow.
func (o *outpost) trace(w wish) (word, error) {
	answer := word{ID: w.ID}
	if o.tracing == nil {
		tracer, err := trace.Open()
		if err != nil {
			return answer, err
		}
		o.tracing = &tracing{tracer: tracer}
	}
	t := o.tracing
	switch {
	case w.Do == wishTracer:
		answer.Ability = &t.tracer.Ability
		return answer, nil
	case w.Do == wishSeen && t.end == nil:
		return answer, errors.New("no packets are followed")
	case w.Do == wishSeen:
		all, err := t.stop()
		answer.Seen = &all
		return answer, err
	case t.end != nil || w.Pass == nil:
		return answer, errors.New("follow packets: one pass at a time, which says what to follow")
	}
	return answer, t.begin(w.Do, *w.Pass)
}

// begin begins a pass, which is under way when it returns.
func (t *tracing) begin(do string, pass trace.Pass) error {
	var all seen
	begun, stop, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	until := func() error {
		close(begun)
		<-stop
		return nil
	}
	go func() {
		var err error
		if do == wishProfile {
			all.Profile, err = t.tracer.Profile(pass.Networks, until)
		} else {
			all.Path, err = t.tracer.Follow(pass, until)
		}
		ended <- err
	}()
	select {
	case err := <-ended:
		return err
	case <-begun:
	}
	t.end = func() (seen, error) {
		close(stop)
		err := <-ended
		return all, err
	}
	return nil
}

// stop ends the pass that is under way.
func (t *tracing) stop() (seen, error) {
	end := t.end
	t.end = nil
	return end()
}

func (t *tracing) close() error {
	var err error
	if t.end != nil {
		_, err = t.stop()
	}
	return errors.Join(err, t.tracer.Close())
}
