package site

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
)

// Exec runs a command at a place with the files given and waits for its end.
// A context that ends interrupts the command, as Ctrl-C would.
func (l *Lab) Exec(ctx context.Context, at string, argv []string, files ...*os.File) (status int, err error) {
	dir, err := os.Getwd()
	if err != nil {
		dir = "/"
	}
	c, err := l.open(context.WithoutCancel(ctx), doStart, request{At: at, Argv: argv, Env: os.Environ(), Dir: dir}, files...)
	if err != nil {
		return 0, err
	}
	defer c.conn.Close()
	if _, err := c.reply(); err != nil {
		return 0, err
	}
	stop := context.AfterFunc(ctx, func() {
		err := c.Write(request{Signal: int(syscall.SIGINT)})
		if err != nil && !errors.Is(err, syscall.EPIPE) && !errors.Is(err, net.ErrClosed) { // it has just ended
			fmt.Fprintf(os.Stderr, "tare: interrupt %s: %v\n", argv[0], err)
		}
	})
	defer stop()
	rep, err := c.reply()
	if err != nil {
		return 0, err
	}
	if rep.Exit == nil {
		return 0, fmt.Errorf("run %s at %s: the keeper did not report how it ended", argv[0], at)
	}
	return *rep.Exit, nil
}

// Addresses are those of a lab's hosts and containers, as a person writes
// them: without the network's name where there is only one besides the baseline.
func (t Topology) Addresses() []string {
	short := t.only()
	var all []string
	for _, name := range t.Namespaces {
		network, rest, _ := strings.Cut(name, ".")
		switch {
		case short == "":
			all = append(all, name)
		case network == short:
			all = append(all, rest)
		}
	}
	return all
}

// only is the cluster that an address without a name means: the one besides the
// baseline's, or the baseline's first where there is no other.
func (t Topology) only() string {
	name, count := "", 0
	for _, u := range t.Clusters {
		if !u.Baseline {
			name, count = u.Name, count+1
		}
	}
	switch {
	case count == 1:
		return name
	case count == 0 && len(t.Clusters) > 0:
		return t.Clusters[0].Name
	}
	return ""
}

// Has reports whether the lab has a host or container of this address.
func (t Topology) Has(at string) bool {
	return slices.Contains(t.Namespaces, t.Full(at))
}

// Full completes an address that leaves the network's name out.
func (t Topology) Full(at string) string {
	if first, _, _ := strings.Cut(at, "/"); strings.Contains(first, ".") || t.only() == "" {
		return at
	}
	return t.only() + "." + at
}

// Prefix is what completes a place of a cluster to an address of the lab: empty
// where the lab has only one.
func (t Topology) Prefix(underlay string) string {
	if t.only() == underlay {
		return ""
	}
	return underlay + "."
}
