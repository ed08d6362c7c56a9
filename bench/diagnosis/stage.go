package diagnosis

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"tare/bench/harness"
	"tare/network"
	"tare/site"
)

// typeWait is what a script may take.
const typeWait = time.Minute

// prelude are the commands that the scripts have in addition to the shell's.
//
//go:embed prelude.sh
var prelude string

// stage is a lab with a network in it, and the ends of a path.
type stage struct {
	*harness.Lab
	tare   harness.Tare
	at     spot
	roles  map[string]place
	ends   network.Ends
	source string // the client's address
}

// open builds a lab. It is taken down when this program ends, however that happens.
func open(ctx context.Context, tare harness.Tare, at spot) (*stage, error) {
	built, err := tare.Up(ctx, at.network())
	if err != nil {
		return nil, err
	}
	s := &stage{Lab: built, tare: tare, at: at}
	if err := s.find(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// find finds the ends of the path, and where the roles are.
func (s *stage) find(ctx context.Context) error {
	l, err := site.Join(ctx, s.Name)
	if err != nil {
		return err
	}
	for _, u := range l.Topology.Clusters {
		if ends, serves := u.Paths[s.at.path()]; u.Network == s.at.network() && serves {
			s.ends = ends
		}
	}
	if err := l.Close(); err != nil {
		return err
	}
	if s.ends.Client == "" {
		return fmt.Errorf("network %s has no path %s: choose one that docs/networks names", s.at.network(), s.at.path())
	}
	return s.cast(ctx)
}

// cast finds where the roles are.
func (s *stage) cast(ctx context.Context) error {
	host := func(end string) place { name, _, _ := strings.Cut(end, "/"); return place{at: name} }
	s.roles = map[string]place{near: host(s.ends.Client), far: host(s.ends.Server)}
	for role, end := range map[string]string{client: s.ends.Client, server: s.ends.Server} {
		s.roles[role] = place{at: end}
		_, err := s.typeAt(ctx, step{role, "true"})
		if err != nil { // a real container has no shell
			err = s.enter(ctx, role, end)
		}
		if err != nil {
			return err
		}
	}
	source, err := s.typeAt(ctx, step{client, `ip -o route get "$DIAL" | sed -n 's/.* src \([^ ]*\).*/\1/p'`})
	s.source = strings.TrimSpace(string(source))
	return err
}

// enter finds a process of a real container: the lab's host sees it, and types
// in its network.
func (s *stage) enter(ctx context.Context, role, end string) error {
	out, err := s.tare.Call(ctx, "", "lab", "show", "--name", s.Name, "--json", end)
	if err != nil {
		return err
	}
	var places []struct {
		Links []struct{ MAC string }
	}
	if err := json.Unmarshal(out, &places); err != nil {
		return fmt.Errorf("read the links of %s: %w", end, err)
	}
	macs := []string{}
	for _, l := range places[0].Links {
		if l.MAC != "" {
			macs = append(macs, l.MAC)
		}
	}
	at, _, _ := strings.Cut(end, "/")
	s.roles[role] = place{at: at}
	pid, err := s.typeAt(ctx, step{role, `
		for ns in /proc/[0-9]*/ns/net; do
			! nsenter --net="$ns" ip -o link 2>/dev/null | grep -qE "link/ether (` + strings.Join(macs, "|") + `)" || { echo "$ns" | cut -d/ -f3; break; }
		done`})
	if err != nil || len(pid) == 0 {
		return errors.Join(fmt.Errorf("find a process of %s: there is none", end), err)
	}
	s.roles[role] = place{at, strings.TrimSpace(string(pid))}
	return nil
}

// place is where scripts are typed: a host or a container of the lab, or the
// network of a process of that host's container.
type place struct{ at, pid string }

func (p place) String() string {
	if p.pid != "" {
		return "container of " + p.at
	}
	return p.at
}

// typeAt types a script at a place.
func (s *stage) typeAt(ctx context.Context, one step) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, typeWait)
	defer cancel()
	place := s.roles[one.At]
	argv := []string{}
	if place.pid != "" {
		argv = append(argv, "nsenter", "-t", place.pid, "-n")
	}
	argv = append(append(argv, "env"), s.words()...)
	out, err := s.Type(ctx, "", place.at, append(argv, "sh", "-ec", prelude+one.Script)...)
	if err != nil {
		err = fmt.Errorf("at %s: %w", place, err)
	}
	return out, err
}

// words are the variables that the scripts have.
func (s *stage) words() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "PORT=" + strconv.Itoa(network.Port),
		"DIAL=" + s.ends.Dial.String(), "SERVER=" + s.ends.Bind.String(), "CLIENT=" + s.source,
	}
}

// bitten reports whether the symptom is there.
func (s *stage) bitten(ctx context.Context, steps []step) (bool, error) {
	if len(steps) == 0 {
		return false, errors.New("look for the symptom: its injection has no check")
	}
	last := len(steps) - 1
	for _, one := range steps[:last] {
		if _, err := s.typeAt(ctx, one); err != nil {
			return false, fmt.Errorf("look for the symptom: %w", err)
		}
	}
	_, err := s.typeAt(ctx, steps[last])
	if _, err := s.typeAt(ctx, step{steps[last].At, `settle`}); err != nil {
		return false, fmt.Errorf("wait for the end of the load: %w", err)
	}
	var status *exec.ExitError
	switch {
	case err == nil:
		return true, nil
	case errors.As(err, &status) && status.ExitCode() == 1:
		return false, nil
	}
	return false, fmt.Errorf("look for the symptom: %w", err)
}
