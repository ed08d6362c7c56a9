package site

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"tare/catalog"
)

// The verbs by which this program is what another tare needs at a far place.
const (
	OutpostVerb = "outpost"
	HoldVerb    = "await-outpost"
	KeepVerb    = "keep-outpost"
)

// Far is a place that a command reaches: sh, and what sh starts, run there if the command is
// given them.
type Far struct {
	Name    string  // as in a lab: h1, h1/c1
	Network string  // that a container is on: the cluster's name; empty: catalog.Endpoint
	Machine string  // that it is on, as the user or the cluster calls it; empty: by no name
	Command string  // as typed, as in "ssh a" or "docker exec -i web"; empty: here
	Carry   Carrier // carries the streams of commands there; nil: Command does
	Shown   string  // what messages call the command; empty: Command
	Program string  // a tare that is there already; empty: this one is sent
	// Direct is whether the command is an outpost itself, and starts no shell.
	Direct bool
	// Keep is whether what is sent is kept there for the next run.
	Keep bool
	// Published is whether its host publishes the ports of its servers.
	Published bool
}

// Carrier starts a command at a place, carries its standard streams in this process, and gives the
// status at which it ended. It returns soon where ctx ends. It may be called from several
// goroutines.
type Carrier func(ctx context.Context, command []string, in io.Reader, out, complaints io.Writer) (status int, err error)

// called is what messages call the command.
func (f Far) called() string { return cmp.Or(f.Shown, f.Command) }

// network is the network that a container is on.
func (f Far) network() string { return cmp.Or(f.Network, catalog.Endpoint) }

// Label is the place among those of a site: h1, h1/c1; on a network that has a name
// docker:web.h1/c1.
func (f Far) Label() string {
	if f.network() == catalog.Endpoint || f.Name == catalog.HostOf(f.Name) {
		return f.Name
	}
	return f.Network + "." + f.Name
}

// Label is that of a place of a cluster.
func Label(cluster, place string) string { return Far{Name: place, Network: cluster}.Label() }

// open starts an outpost there. programs are what may be sent.
func (f Far) open(ctx context.Context, version string, programs func() ([]program, error)) (_ *farOutpost, err error) {
	if f.Direct {
		c, err := f.start()
		if err != nil {
			return nil, err
		}
		return f.greeted(ctx, c, reachWait, version, "")
	}
	begin := shellWords(f.Program, OutpostVerb)
	sum := ""
	if f.Program == "" {
		s, err := f.send(ctx, programs)
		if err != nil {
			return nil, err
		}
		sum = s.program.sum
		defer func() { err = errors.Join(err, s.held.close()) }() // which has waited for the outpost
		begin = shellWords(s.path, OutpostVerb)
		if !s.kept {
			begin += " " + shellWords("--staged", s.path)
		}
	}
	c, err := f.shell()
	if err != nil {
		return nil, err
	}
	if _, err := c.say(ctx, `echo "$MARK"; exec `+begin); err != nil {
		return nil, err
	}
	return f.greeted(ctx, c, replyWait, version, sum)
}

// greeted takes over an outpost that was started. sum is the digest of its program; empty:
// any of this version will do.
func (f Far) greeted(ctx context.Context, c *channel, wait time.Duration, version, sum string) (*farOutpost, error) {
	o, err := openOutpost(ctx, f.Label(), wait, c.in, c.out, c.close)
	switch {
	case err != nil:
		return nil, c.explain(err)
	case sum != "" && o.Greeting.Digest != sum:
		err = errors.New("it is not the program that was sent")
	case o.Greeting.Version != version:
		err = fmt.Errorf("%s is tare %s there, and this is %s: use the same version at both ends", cmp.Or(f.Program, "it"), o.Greeting.Version, version)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("outpost at %s: %w", f.Name, err), o.Close())
	}
	return o, nil
}

// staged is tare at a far place.
type staged struct {
	program
	path string   // there
	kept bool     // it stays
	held *channel // it waits there for the outpost
}

// cached is the folder of the programs that are kept, for a shell.
const cached = `${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/tare/far`

// keeping uses the program that was kept there, or prepares to keep the one that comes.
const keeping = `k=` + cached + `; f=$k/$DIGEST; ` +
	`[ "$("$f" ` + KeepVerb + ` "$DIGEST" 2>/dev/null)" = "` + held + ` $f" ] && { echo "$MARK $(uname -m) kept $f"; exit; }; ` +
	`rm -f "$f" 2>/dev/null; mkdir -p "$k" 2>/dev/null; `

// staging finds a folder there in which a program may be run, says which, and puts what comes
// into a file that only its user can read. Then that waits for its outpost, or the file goes.
// sh, cat, chmod, rm and uname suffice. It is one line: a shell may read more of its input than
// a line, and what follows is for cat.
const staging = `trap '' PIPE; set -C; umask 077; ` + whole +
	`for d in ${k:+"$k"} "${XDG_RUNTIME_DIR:-/dev/shm}" /dev/shm /tmp /var/tmp "${HOME:-/}" "$PWD"; do ` +
	`f=$d/.tare-$ID; { echo '#!/bin/sh' >"$f"; } 2>/dev/null || { f=; continue; }; ` +
	`chmod 700 "$f"; "$f" 2>/dev/null && break; rm -f "$f"; f=; done; ` +
	`v=` + HoldVerb + `; [ "$k" ] && [ "$d" = "$k" ] && v=` + KeepVerb + `; ` +
	`echo "$MARK $(uname -m) sent $f"; ` +
	`[ "$f" ] && { cat >|"$f"; whole && "$f" "$v" "$DIGEST" || rm -f "$f"; }; :`

// whole checks before the program runs that it is the one that was sent, where sha256sum is
// there. The program itself looks again.
const whole = `whole() { [ -s "$f" ] || return; command -v sha256sum >/dev/null 2>&1 || return 0; ` +
	`case $(sha256sum <"$f") in "$DIGEST"*) ;; *) echo "` + otherBytes + `" >&2; return 1;; esac; }; `

// send sends the program that fits its machine there.
func (f Far) send(ctx context.Context, programs func() ([]program, error)) (s staged, err error) {
	all, err := programs()
	if err != nil {
		return s, err
	}
	sums := "case $(uname -m) in "
	for _, p := range all {
		sums += machines[p.arch] + ") DIGEST=" + p.sum + ";; "
	}
	c, err := f.shell()
	if err != nil {
		return s, err
	}
	s.held = c
	script := staging
	if f.Keep {
		script = keeping + staging
	}
	line, err := c.say(ctx, fmt.Sprintf("ID=%s; DIGEST=; %sesac; ", rand.Text(), sums)+script)
	if err != nil {
		return s, err
	}
	machine, line, _ := strings.Cut(line, " ")
	how, path, _ := strings.Cut(line, " ")
	s.program, err = fits(all, machine, f.Name)
	if err == nil && path == "" {
		err = fmt.Errorf("stage tare at %s: there is no folder in which a program may be written and run: copy tare there, and name it with --far-path", f.Name)
	}
	if err != nil {
		return s, errors.Join(err, c.close())
	}
	if how == "kept" {
		s.path, s.kept = path, true
		return s, nil
	}
	into, err := c.upload(ctx, s.file)
	s.path, s.kept = cmp.Or(into, path), into != ""
	return s, err
}

// shellWords quotes words for a shell.
func shellWords(words ...string) string {
	quoted := make([]string, len(words))
	for n, word := range words {
		quoted[n] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return strings.Join(quoted, " ")
}
