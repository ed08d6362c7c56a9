package site

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"tare/result"
)

// SSH reaches machines by the ssh program of the user, with what is configured for it: keys,
// agents, jump hosts, known hosts. Each machine has one connection, which asks what ssh asks;
// all streams share it (ControlMaster in ssh_config(5)).
type SSH struct {
	Machines []string // h1 and h2, as ssh knows them
	In       string   // the command that reaches a container on each; empty: there is none
	Program  string   // a tare that is there already; empty: this one is sent
	Partial  bool     // a machine that is not reached is left out
}

// sshOptions are those of every connection: it fails within seconds where a machine does not
// answer or goes away, and forwards nothing.
var sshOptions = []string{
	"ConnectTimeout=15", "ServerAliveInterval=5", "ServerAliveCountMax=3",
	"ClearAllForwardings=yes", "ForwardAgent=no", "ForwardX11=no", "RemoteCommand=none",
}

// command is an ssh to a machine. control is the socket of its connection.
func (s SSH) command(machine, control string, options ...string) string {
	words := []string{"ssh", "-T"}
	for _, option := range append(options, sshOptions...) {
		words = append(words, "-o", option)
	}
	return shellWords(append(words, "-o", "ControlPath="+control, "--", machine)...)
}

// sshFolder begins the name of the folder of a run's sockets.
const sshFolder = "tare-ssh-"

// socketFolder makes the folder where it is private and its name is short, as that of a socket
// must be.
func socketFolder() (string, error) {
	if own := os.Getenv("XDG_RUNTIME_DIR"); own != "" {
		if folder, err := os.MkdirTemp(own, sshFolder); err == nil {
			return folder, nil // else it may be another user's, as after su
		}
	}
	return os.MkdirTemp("/tmp", sshFolder)
}

// master runs an ssh that holds a connection, and removes the folder of its socket when the
// last of them has ended: also where this process was killed.
const master = `trap : HUP INT TERM; folder=$1; shift; "$@"; status=$?; rmdir "$folder" 2>/dev/null; exit $status`

// Open connects to the machines, one after the other: each may ask for a password.
func (s SSH) Open(ctx context.Context) (_ Way, err error) {
	for _, machine := range s.Machines {
		if machine == "" || strings.HasPrefix(machine, "-") {
			return Way{}, &ChoiceError{fmt.Sprintf("machine %q: it is no name of a machine: write them as ssh takes them, as in --machines a,b", machine)}
		}
	}
	if _, err := exec.LookPath("ssh"); err != nil {
		return Way{}, &ClientError{err, "install openssh-client"}
	}
	folder, err := socketFolder()
	if err != nil {
		return Way{}, fmt.Errorf("make folder for the sockets of ssh: %w", err)
	}
	var masters []*channel
	end := func() error {
		var errs []error
		for _, c := range masters {
			errs = append(errs, c.close())
		}
		return errors.Join(append(errs, os.RemoveAll(folder))...)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, end())
		}
	}()
	way := Way{Site: result.SiteSSH, Close: end, Partial: s.Partial}
	for n, machine := range s.Machines {
		host := fmt.Sprintf("h%d", n+1)
		control, shown := filepath.Join(folder, host), "ssh "+machine
		connect := shellWords("sh", "-c", master, "sh", folder) + " " + s.command(machine, control, "ControlMaster=yes", "ControlPersist=no")
		c, err := Far{Name: machine, Command: connect, Shown: shown}.shell()
		if err != nil {
			return Way{}, err
		}
		_, err = c.say(ctx, `echo "$MARK"`)
		switch {
		case err != nil && (!s.Partial || ctx.Err() != nil):
			return Way{}, err
		case err != nil:
			way.Lost = append(way.Lost, err)
			continue
		}
		masters = append(masters, c)
		by := s.command(machine, control, "ControlMaster=no")
		way.Places = append(way.Places, Far{Name: host, Machine: machine, Command: by, Shown: shown, Program: s.Program, Keep: true})
		if s.In != "" {
			way.Places = append(way.Places, Far{Name: host + "/c1", Machine: machine, Command: by + " " + s.In, Shown: shown + " " + s.In, Program: s.Program})
		}
	}
	return way, nil
}

// Clean removes the programs that are kept on each machine for the next run. A machine that is
// not reached does not keep it from the others.
func (s SSH) Clean(ctx context.Context, dry bool, name func(Leftover)) error {
	var errs []error
	for _, machine := range s.Machines {
		errs = append(errs, SSH{Machines: []string{machine}}.cleanOne(ctx, dry, name))
	}
	return errors.Join(errs...)
}

// cleanOne does so on the first machine.
func (s SSH) cleanOne(ctx context.Context, dry bool, name func(Leftover)) (err error) {
	way, err := s.Open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, way.Close()) }()
	c, err := way.Places[0].shell()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	kept, err := c.say(ctx, `k=`+cached+`; echo "$MARK" $(ls -d "$k"/* 2>/dev/null)`)
	if err == nil && kept != "" {
		name(Leftover{Where: way.Places[0].Shown, What: "programs that are kept for the next run: " + result.Plain(kept)})
		if !dry {
			_, err = c.say(ctx, `rm -rf "$k" && echo "$MARK"`)
		}
	}
	return err
}
