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

// trace carries out what is asked of the tracer. A pass runs beside the requests that follow.
func (o *outpost) trace(r *outpostRequest) (*trace.Ability, *seen, error) {
	if o.tracing == nil {
		tracer, err := trace.Open()
		if err != nil {
			return nil, nil, err
		}
		o.tracing = &tracing{tracer: tracer}
	}
	t := o.tracing
	switch {
	case r.Do == doTracer:
		return &t.tracer.Ability, nil, nil
	case r.Do == doFollowed && t.end == nil:
		return nil, nil, errors.New("no packets are followed")
	case r.Do == doFollowed:
		all, err := t.stop()
		return nil, &all, err
	case t.end != nil || r.Pass == nil:
		return nil, nil, errors.New("follow packets: one pass at a time, which says what to follow")
	}
	return nil, nil, t.begin(r.Do, *r.Pass)
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
		if do == doProfile {
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
