package site

import (
	"context"

	"tare/result"
)

// Way is what reaches the places of a site that tare did not build.
type Way struct {
	Site   string // result.SiteEndpoint, SiteSSH, SiteDocker
	Places []Far
	Notes  []string     // what a user should know beforehand
	Close  func() error // ends what was made to reach them, after the places; nil: nothing was
}

// Opener makes the way to a site.
type Opener interface {
	Open(ctx context.Context) (Way, error)
}

// Cleaner removes what runs have left at a site. It names each thing before it goes; with dry
// nothing goes.
type Cleaner interface {
	Clean(ctx context.Context, dry bool, name func(Leftover)) error
}

// Leftover is something that a run left.
type Leftover struct {
	Where string // as a user calls it
	What  string
}

// Commands are places that the user's commands reach.
type Commands []Far

// Open makes nothing: the commands are started by what reaches the places.
func (c Commands) Open(context.Context) (Way, error) {
	return Way{Site: result.SiteEndpoint, Places: c}, nil
}
