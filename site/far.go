package site

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"runtime"
	"strings"
)

// The verbs by which this program is what another tare needs at a far place.
const (
	OutpostVerb = "outpost"
	HoldVerb    = "await-outpost"
)

// Far is a place that a command reaches: sh, and what sh starts, run there if the command is
// given them.
type Far struct {
	Name    string // as in a lab: h1, h1/c1
	Command string // as typed, as in "ssh a" or "docker exec -i web"; empty: here
	Program string // a tare that is there already; empty: this one is sent
}

// open starts an outpost there.
func (f Far) open(ctx context.Context, version string) (_ *farOutpost, err error) {
	begin := shellWords(f.Program, OutpostVerb)
	sum := ""
	if f.Program == "" {
		if sum, err = digest("/proc/self/exe"); err != nil {
			return nil, err
		}
		s, err := f.send(ctx, sum)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, s.held.close()) }() // which has waited for the outpost
		begin = shellWords(s.file, OutpostVerb, "--staged", s.file)
	}
	c, err := f.shell()
	if err != nil {
		return nil, err
	}
	if _, err := c.say(ctx, `echo "$MARK"; exec `+begin); err != nil {
		return nil, err
	}
	o, err := openOutpost(ctx, f.Name, c.in, c.out, c.close)
	switch {
	case err != nil:
		return nil, c.explain(err)
	case sum != "" && o.Welcome.Digest != sum:
		err = errors.New("it is not the program that was sent")
	case o.Welcome.Version != version:
		err = fmt.Errorf("%s is tare %s there, and this is %s: use the same version at both ends", f.Program, o.Welcome.Version, version)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("outpost at %s: %w", f.Name, err), o.Close())
	}
	return o, nil
}

// staged is this program at a far place.
type staged struct {
	file string
	held *channel // it waits there for the outpost
}

// staging finds a folder there in which a program may be run, says which, and puts what comes
// into a file that only its user can read. Then that waits for its outpost, or the file goes.
// sh, cat, chmod, rm and uname suffice. It is one line: a shell may read more of its input than
// a line, and what follows is for cat.
const staging = `trap '' PIPE; set -C; umask 077; ` + whole +
	`for d in "${XDG_RUNTIME_DIR:-/dev/shm}" /dev/shm /tmp /var/tmp "${HOME:-/}" "$PWD"; do ` +
	`f=$d/.tare-$ID; { echo '#!/bin/sh' >"$f"; } 2>/dev/null || { f=; continue; }; ` +
	`chmod 700 "$f"; "$f" 2>/dev/null && break; rm -f "$f"; f=; done; ` +
	`echo "$MARK $(uname -m) $f"; ` +
	`[ "$f" ] && { cat >|"$f"; whole && "$f" ` + HoldVerb + ` "$DIGEST" || rm -f "$f"; }; :`

// whole checks before the program runs that it is the one that was sent, where sha256sum is
// there. The program itself looks again.
const whole = `whole() { [ -s "$f" ] || return; command -v sha256sum >/dev/null 2>&1 || return 0; ` +
	`case $(sha256sum <"$f") in "$DIGEST"*) ;; *) echo "` + otherBytes + `" >&2; return 1;; esac; }; `

// send sends this program there.
func (f Far) send(ctx context.Context, sum string) (s staged, err error) {
	c, err := f.shell()
	if err != nil {
		return s, err
	}
	s.held = c
	line, err := c.say(ctx, fmt.Sprintf("ID=%s; DIGEST=%s; ", rand.Text(), sum)+staging)
	if err != nil {
		return s, err
	}
	arch, file, _ := strings.Cut(line, " ")
	switch {
	case file == "":
		err = fmt.Errorf("stage tare at %s: there is no folder in which a program may be written and run: copy tare there, and name it with --far-path", f.Name)
	case arch != architecture(runtime.GOARCH):
		err = fmt.Errorf("stage tare at %s: its machine is %s, and this tare is for %s: build one for it (GOARCH), copy it there, and name it with --far-path", f.Name, arch, architecture(runtime.GOARCH))
	}
	if err != nil {
		return s, errors.Join(err, c.close())
	}
	s.file = file
	return s, c.upload(ctx)
}

// architecture is what uname(1) calls the machine of a Go architecture.
func architecture(goarch string) string {
	switch goarch {
	case "amd64":
		return "x86_64"
	case "arm64":
		return "aarch64"
	}
	return goarch
}

// shellWords quotes words for a shell.
func shellWords(words ...string) string {
	quoted := make([]string, len(words))
	for n, word := range words {
		quoted[n] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return strings.Join(quoted, " ")
}
