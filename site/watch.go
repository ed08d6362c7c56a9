package site

import (
	"context"
	"errors"

	"tare/lab"
)

// watch watches a flow until the other side cancels that, or hangs up.
func (k *keeper) watch(c conversation, req request) error {
	w, err := k.startWatch(req)
	if err != nil {
		return err
	}
	var end request
	err = c.Write(reply{Started: true})
	if err == nil {
		err = c.Read(&end)
	}
	seen, errStop := w.Stop()
	if err := errors.Join(err, errStop); err != nil {
		return err
	}
	return c.Write(reply{Seen: seen})
}

func (k *keeper) startWatch(req request) (*lab.Watch, error) {
	places, err := k.places(req.Places)
	if err != nil {
		return nil, err
	}
	return lab.StartWatch(places, req.Flow)
}

// Watch begins to watch which devices of the places see a flow; stop ends it
// and returns what was seen, the earliest first.
func (l *Lab) Watch(ctx context.Context, places []string, flow lab.Flow) (stop func() ([]lab.Sighting, error), err error) {
	end, err := l.begin(ctx, doWatch, request{Places: places, Flow: flow})
	if err != nil {
		return nil, err
	}
	return func() ([]lab.Sighting, error) {
		rep, err := end()
		return rep.Seen, err
	}, nil
}
