package site

import (
	"context"
	"fmt"
	"time"

	"tare/catalog"
	"tare/probe"
)

// Closed is a way between two places that something closes, if it is enforced: that it is there
// shows nothing.
type Closed struct {
	What              string // closes it, in the plural
	Network, From, To string // names of places: h1/c1, h1/c2
	Open              func(context.Context) error
}

const (
	// closedFor is how long a closed way is tried: on a busy machine an answer may be late once.
	closedFor = 5 * time.Second
	// opensWithin is how long a way that was closed may take to open.
	opensWithin = 10 * time.Second
)

// tryClosed finds out whether the way that is closed is, and has it opened.
func (e *Endpoints) tryClosed(ctx context.Context, seen map[string]probe.Inventory) error {
	c := e.way.Closed
	if c == nil {
		return nil
	}
	if e.outposts[Label(c.Network, c.From)] == nil || e.outposts[Label(c.Network, c.To)] == nil {
		return c.Open(ctx)
	}
	fact, err := c.try(ctx, func() bool {
		_, _, err := e.find(ctx, route{path: catalog.SameHost, from: c.From, to: c.To}, c.Network, seen)
		return err == nil
	})
	if err != nil {
		return err
	}
	e.Facts = append(e.Facts, fact)
	return ctx.Err()
}

// try tries the way while it should be closed, has it opened, and tries it again. It says what
// that shows.
func (c *Closed) try(ctx context.Context, reaches func() bool) (fact string, err error) {
	reachesWithin := func(d time.Duration) bool {
		for begun := time.Now(); ; time.Sleep(tryAgain) {
			if there := reaches(); there || ctx.Err() != nil || time.Since(begun) > d {
				return there
			}
		}
	}
	enforced := !reachesWithin(closedFor)
	if err := c.Open(ctx); err != nil {
		return "", err
	}
	switch {
	case !enforced:
		return fmt.Sprintf("%s are not enforced: %s reached %s, which one of them closed", c.What, c.From, c.To), nil
	case !reachesWithin(opensWithin):
		return fmt.Sprintf("whether %s are enforced is not known: %s reached %s neither with one that closes it nor without", c.What, c.From, c.To), nil
	}
	return fmt.Sprintf("%s are enforced: %s reached %s only when the one that closed it was gone", c.What, c.From, c.To), nil
}
