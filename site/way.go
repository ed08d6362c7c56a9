package site

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"tare/result"
)

// Way is what reaches the places of a site that tare did not build.
type Way struct {
	Site      string // result.SiteEndpoint, SiteSSH, SiteDocker, SiteKubernetes
	Places    []Far
	Frontends []Frontend
	Facts     []string     // what is known of the site before anything is measured
	Close     func() error // ends what was made to reach them, after the places; nil: nothing was
	// Closed is a way that the site keeps closed until it was tried; nil: there is none.
	Closed *Closed
	// Settles is how long frontends may take to lead to their servers, besides the usual.
	Settles time.Duration
	// Partial is whether places that are not reached are left out, Lost why some were already.
	Partial bool
	Lost    []error
}

// Frontend is an address besides its own at which a server at a place is reached, such as that of a
// service of Kubernetes. Its port and the next one lead to the same ports of the server, by TCP
// and UDP.
type Frontend struct {
	Network, Path string
	From, To      string // names of places: h1/c1, h2/c1
	At            netip.Addr
	Port          uint16
}

// ChoiceError is a choice of what is not there, or can't be.
type ChoiceError struct{ Text string }

func (e *ChoiceError) Error() string { return e.Text }

// ClientError is a program that this machine lacks and a site needs.
type ClientError struct {
	err error // of exec.LookPath
	get string
}

func (e *ClientError) Error() string { return fmt.Sprintf("find the client: %v: %s", e.err, e.get) }

func (e *ClientError) Unwrap() error { return e.err }

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
