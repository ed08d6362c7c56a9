package site

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tare/result"
)

// Docker reaches one Docker engine or two, by the user's own command: docker, or podman where
// there is none. It loads an image that holds this program alone, and starts containers from
// it: one on each host's own network, and on each network that is there.
type Docker struct {
	Command  string   // the client; empty: docker, or podman where there is none
	Contexts []string // of the engines of h1 and h2; empty: the one in use
	Networks []string // of h1's engine; empty: all that a container can be attached to
}

// dockerLimits are those of a container. None takes CPU time away: that would be measured.
var dockerLimits = []string{
	"--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--read-only", "--user", "65534:65534",
	"--memory", "1g", "--pids-limit", "1024", "--log-driver", "none", "--pull", "never",
}

// Open loads the image and finds the networks.
func (d Docker) Open(ctx context.Context) (_ Way, err error) {
	run := strings.ToLower(rand.Text())
	engines, err := d.engines(run)
	if err != nil {
		return Way{}, err
	}
	way := Way{Site: result.SiteDocker}
	var used []dockerEngine
	way.Close = func() error {
		var errs []error
		for _, e := range used {
			errs = append(errs, e.remove(context.WithoutCancel(ctx)))
		}
		return errors.Join(errs...)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, way.Close())
		}
	}()
	there := make([][]dockerNetwork, len(engines))
	for n, e := range engines {
		if there[n], err = e.networks(ctx); err != nil {
			return Way{}, err
		}
		used = append(used, e)
		if err := e.load(ctx); err != nil {
			return Way{}, err
		}
		way.Places = append(way.Places, e.place(e.host, dockerNetwork{Name: "host"}))
	}
	chosen, err := d.choose(there[0])
	if err != nil {
		return Way{}, err
	}
	for n, one := range chosen {
		servers := publishedPort(n)
		both := len(engines) == 2 && slices.ContainsFunc(there[1], one.joins)
		first := engines[0].place("h1/c1", one)
		if len(engines) == 1 && one.publishes() {
			first = engines[0].place("h1/c1", one, servers, servers+1)
		}
		way.Places = append(way.Places, first, engines[0].place("h1/c2", one))
		switch {
		case both && one.publishes():
			way.Places = append(way.Places, engines[1].place("h2/c1", one, servers, servers+1))
		case both:
			way.Places = append(way.Places, engines[1].place("h2/c1", one))
		}
	}
	return way, nil
}

// choose gives the networks that were asked for.
func (d Docker) choose(there []dockerNetwork) ([]dockerNetwork, error) {
	if len(d.Networks) == 0 {
		return there, nil
	}
	var chosen []dockerNetwork
	for _, name := range d.Networks {
		one, found := result.First(there, func(n dockerNetwork) bool { return n.Name == name })
		if !found {
			return nil, &ChoiceError{fmt.Sprintf("network %s: the engine has none of that name that a container can be attached to: take some of %s",
				name, strings.Join(result.Names(there, func(n dockerNetwork) string { return n.Name }), ", "))}
		}
		chosen = append(chosen, one)
	}
	return chosen, nil
}

// Clean removes the containers that have ended and the images of runs that have. A run that
// goes on has a container that runs.
func (d Docker) Clean(ctx context.Context, dry bool, name func(Leftover)) error {
	engines, err := d.engines("")
	if err != nil {
		return err
	}
	for _, e := range engines {
		if err := e.clean(ctx, dry, name); err != nil {
			return err
		}
	}
	return nil
}
