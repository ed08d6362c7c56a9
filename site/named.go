package site

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"syscall"
	"time"

	"tare/agent"
	"tare/result"
)

// A named lab outlives the command that made it. Its keeper listens on a
// socket in the user's ledger, a folder that holds one socket and one entry
// per lab; clean-up may remove only what is in the ledger.

// Entry is one lab in the ledger.
type Entry struct {
	Name     string    `json:"name"`
	Networks []string  `json:"networks"`
	PID      int       `json:"pid"`
	Created  time.Time `json:"created"`
	Running  bool      `json:"running"`
}

// ErrNoLab means that no lab has the name, ErrLabExists that one has it already.
var (
	ErrNoLab     = errors.New("no such lab")
	ErrLabExists = errors.New("such a lab exists already")
)

var validName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$`)

// CheckName refuses names that are not plain file names.
func CheckName(name string) error {
	if !validName.MatchString(name) {
		return fmt.Errorf("name %q: use letters, digits, dot, dash and underscore, at most 32, a letter or digit first", name)
	}
	return nil
}

// ledger is the user's folder for labs. It exists while the user has labs.
func ledger() (string, error) {
	dir := "/run/tare"
	if os.Geteuid() != 0 {
		base := cmp.Or(os.Getenv("XDG_RUNTIME_DIR"), os.TempDir())
		dir = filepath.Join(base, fmt.Sprintf("tare-%d", os.Geteuid()))
	}
	if _, err := os.Lstat(dir); errors.Is(err, os.ErrNotExist) {
		return dir, nil
	}
	return dir, ownFolder(dir)
}

// openLedger makes the ledger if it does not exist.
func openLedger() (string, error) {
	dir, err := ledger()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("open ledger of labs: %w: set XDG_RUNTIME_DIR to a folder of yours", err)
	}
	return dir, ownFolder(dir)
}

// ledgerTries is how often the ledger may be gone again.
const ledgerTries = 100

// inLedger opens the ledger and puts the first file of a lab there: until it is there,
// another process may remove the ledger with its last lab.
func inLedger(put func(dir string) error) (dir string, err error) {
	for range ledgerTries {
		if dir, err = openLedger(); errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return dir, err
		}
		if err = put(dir); !errors.Is(err, os.ErrNotExist) {
			return dir, err
		}
	}
	return dir, err
}

// Up starts a keeper that outlives this process, builds the spec and writes the lab
// to the ledger.
func Up(ctx context.Context, spec Spec) (*Lab, error) {
	if err := CheckName(spec.Name); err != nil {
		return nil, err
	}
	// Written before the keeper starts, so that a keeper can be listed and taken down
	// even if its starter is killed at the worst moment.
	entry := Entry{Name: spec.Name, Networks: []string{}, Created: time.Now().UTC()}
	for _, spec := range spec.Clusters {
		if !spec.Baseline {
			entry.Networks = append(entry.Networks, spec.Network)
		}
	}
	var socket string
	dir, err := inLedger(func(dir string) error {
		socket = filepath.Join(dir, spec.Name+".sock")
		if l, err := dial(ctx, socket); err == nil || refused(err) {
			return errors.Join(fmt.Errorf("%w: %q: choose another --name, or tare lab down --name %s", ErrLabExists, spec.Name, spec.Name), l.Close())
		}
		if err := remove(dir, spec.Name); err != nil {
			return err
		}
		return write(dir, entry)
	})
	if err != nil {
		return nil, errors.Join(err, leave(dir))
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("listen for keeper: %w", err), forget(dir, spec.Name))
	}
	listener.SetUnlinkOnClose(false) // from here on the keeper owns it
	o, err := startKeeper(listener, false)
	if err = errors.Join(err, listener.Close()); err != nil {
		return nil, errors.Join(err, forget(dir, spec.Name))
	}
	if makesCgroups() {
		spec.Cgroup = cgroupsOf("lab-" + spec.Name)
	}
	l := &Lab{address: socket, owned: o, agents: map[string]*agent.Handle{}}
	entry.PID = o.process.Process.Pid
	if err := errors.Join(l.Build(ctx, spec), write(dir, entry)); err != nil {
		return nil, errors.Join(err, l.Close(), forget(dir, spec.Name))
	}
	close(o.release)
	l.owned = nil
	return l, nil
}

// Join connects to a named lab.
func Join(ctx context.Context, name string) (*Lab, error) {
	if err := CheckName(name); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoLab, err)
	}
	dir, err := ledger()
	if err != nil {
		return nil, err
	}
	l, err := dial(ctx, filepath.Join(dir, name+".sock"))
	switch {
	case refused(err):
		return nil, fmt.Errorf("join lab %s: %w: use the version of tare that made it", name, err)
	case err != nil:
		return nil, fmt.Errorf("%w: %q: tare lab list shows those that exist", ErrNoLab, name)
	}
	return l, nil
}

func dial(ctx context.Context, socket string) (*Lab, error) {
	l := &Lab{address: socket, agents: map[string]*agent.Handle{}}
	rep, err := l.ask(ctx, doShow, request{})
	if err != nil {
		return l, err
	}
	return l, l.adopt(rep)
}

// refused reports whether an error is a keeper's, as of another version.
func refused(err error) bool { return errors.As(err, new(*keeperError)) }

// Down takes a named lab down, and removes it from the ledger once its keeper has ended. One
// whose keeper has died is only removed from the ledger: the kernel has removed the rest. A
// keeper that is busy or stopped is waited for, and then named.
func Down(ctx context.Context, name string) error {
	if err := CheckName(name); err != nil {
		return fmt.Errorf("%w: %w", ErrNoLab, err)
	}
	dir, err := ledger()
	if err != nil {
		return err
	}
	entry, err := read(filepath.Join(dir, name+".json"))
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%w: %q: tare lab list shows those that exist", ErrNoLab, name)
	}
	if err != nil { // its process is not known, and the rest can go
		entry.PID = 0
	}
	ctx, cancel := context.WithTimeout(ctx, downWait)
	defer cancel()
	socket := filepath.Join(dir, name+".sock")
	l, err := dial(ctx, socket)
	switch {
	case refused(err):
		return fmt.Errorf("take lab %s down: %w: use the version of tare that made it", name, err)
	case err == nil:
		_, err = l.ask(ctx, doDown, request{})
	}
	// Another process may have taken it down meanwhile.
	if still := awaitEnd(ctx, socket); still != nil {
		return fmt.Errorf("take lab %s down: %w: %s", name, cmp.Or(err, still), busyKeeper(entry.PID))
	}
	return forget(dir, name)
}

// awaitEnd waits until nobody listens at a keeper's socket.
func awaitEnd(ctx context.Context, socket string) error {
	for {
		conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
		switch {
		case errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, os.ErrNotExist):
			return nil
		case err == nil:
			err = conn.Close()
		}
		select {
		case <-ctx.Done():
			return cmp.Or(err, ctx.Err())
		case <-time.After(endStep):
		}
	}
}

// endStep is how often a keeper that is to end is looked for.
const endStep = 10 * time.Millisecond

// busyKeeper is what to do about a keeper that does not answer.
func busyKeeper(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if pid == 0 || err != nil {
		return "its keeper does not answer: try again"
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	if strings.HasPrefix(rest, "T") {
		return fmt.Sprintf("its keeper, process %d, is stopped: kill -CONT %[1]d, then try again", pid)
	}
	return fmt.Sprintf("its keeper, process %d, is busy: try again, or kill -9 %[1]d, which ends all of the lab", pid)
}

// List reads the ledger.
func List(ctx context.Context) ([]Entry, error) {
	dir, err := ledger()
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	sort.Strings(files)
	entries := []Entry{}
	for _, file := range files {
		e, err := read(file)
		if errors.Is(err, os.ErrNotExist) {
			continue // it has just gone
		}
		if err != nil {
			return nil, err
		}
		// One that does not answer, as it is busy, is running.
		if conn, err := (&net.Dialer{Timeout: dialWait}).DialContext(ctx, "unix", strings.TrimSuffix(file, ".json")+".sock"); err == nil {
			e.Running = true
			if err := conn.Close(); err != nil {
				return nil, err
			}
		}
		entries = append(entries, e)
	}
	return entries, nil
}

func read(file string) (e Entry, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return e, fmt.Errorf("read ledger: %w", err)
	}
	if err := json.Unmarshal(text, &e); err != nil {
		return e, fmt.Errorf("read ledger: %s: %w: remove the file if tare did not write it", file, err)
	}
	return e, nil
}

func write(dir string, e Entry) error {
	text, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("write ledger: %w", err)
	}
	// In one step: its writer may be killed at any moment.
	err = result.ReplaceFile(filepath.Join(dir, e.Name+".json"), func(w io.Writer) error { _, err := w.Write(text); return err })
	if err != nil {
		return fmt.Errorf("write ledger: %w", err)
	}
	return nil
}

// remove removes a lab from the ledger, complete or not, once its control groups have gone.
func remove(dir, name string) error {
	if err := removeCgroups(cgroupsOf("lab-" + name)); err != nil {
		return err
	}
	files := []string{filepath.Join(dir, name+".sock"), filepath.Join(dir, name+".json")}
	unfinished, err := filepath.Glob(filepath.Join(dir, "."+name+".json.*")) // of a writer that was killed
	errs := []error{err}
	for _, file := range append(files, unfinished...) {
		err := os.Remove(file)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, fmt.Errorf("write ledger: %w", err))
		}
	}
	return errors.Join(errs...)
}

// forget removes a lab from the ledger, and the ledger with its last lab.
func forget(dir, name string) error { return errors.Join(remove(dir, name), leave(dir)) }

// leave removes the ledger with its last lab; while it has others it stays.
func leave(dir string) error {
	err := os.Remove(dir)
	if err != nil && !errors.Is(err, syscall.ENOTEMPTY) && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("write ledger: %w", err)
	}
	return nil
}
