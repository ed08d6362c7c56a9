package site

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"syscall"
	"time"

	"tare/agent"
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

// Up starts a keeper that outlives this process, builds the spec and writes the lab
// to the ledger.
func Up(ctx context.Context, spec Spec) (*Lab, error) {
	if err := CheckName(spec.Name); err != nil {
		return nil, err
	}
	if err := Sweep(); err != nil {
		return nil, err
	}
	dir, err := openLedger()
	if err != nil {
		return nil, err
	}
	socket := filepath.Join(dir, spec.Name+".sock")
	if l, err := dial(ctx, socket); err == nil {
		return nil, errors.Join(fmt.Errorf("%w: %q: choose another --name, or tare lab down --name %s", ErrLabExists, spec.Name, spec.Name), l.Close())
	}
	if err := remove(dir, spec.Name); err != nil {
		return nil, err
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("listen for keeper: %w", err), leave(dir))
	}
	listener.SetUnlinkOnClose(false) // from here on the keeper owns it
	// Written before the keeper starts, so that a keeper can be listed and taken down
	// even if its starter is killed at the worst moment.
	entry := Entry{Name: spec.Name, Networks: []string{}, Created: time.Now().UTC()}
	for _, spec := range spec.Clusters {
		if !spec.Baseline {
			entry.Networks = append(entry.Networks, spec.Network)
		}
	}
	if err := write(dir, entry); err != nil {
		return nil, errors.Join(err, listener.Close(), forget(dir, spec.Name))
	}
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
	if err != nil {
		return nil, fmt.Errorf("%w: %q: tare lab list shows those that exist", ErrNoLab, name)
	}
	return l, nil
}

func dial(ctx context.Context, socket string) (*Lab, error) {
	l := &Lab{address: socket, agents: map[string]*agent.Handle{}}
	rep, err := l.ask(ctx, request{Do: doShow})
	if err != nil {
		return nil, err
	}
	return l, l.adopt(rep)
}

// Down takes a named lab down. One whose keeper has died is only removed from the
// ledger: the kernel has removed the rest.
func Down(ctx context.Context, name string) error {
	if err := CheckName(name); err != nil {
		return fmt.Errorf("%w: %w", ErrNoLab, err)
	}
	dir, err := ledger()
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, name+".json")); errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%w: %q: tare lab list shows those that exist", ErrNoLab, name)
	}
	l, err := dial(ctx, filepath.Join(dir, name+".sock"))
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, downWait)
		defer cancel()
		if _, err := l.ask(ctx, request{Do: doDown}); err != nil {
			// Another process may have taken it down meanwhile.
			if _, still := dial(ctx, l.address); still == nil {
				return fmt.Errorf("take lab %s down: %w", name, err)
			}
		}
	}
	return forget(dir, name)
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
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read ledger: %w", err)
		}
		var e Entry
		if err := json.Unmarshal(text, &e); err != nil {
			return nil, fmt.Errorf("read ledger: %s: %w: remove the file if tare did not write it", file, err)
		}
		if l, err := dial(ctx, strings.TrimSuffix(file, ".json")+".sock"); err == nil {
			e.Running = true
			if err := l.Close(); err != nil {
				return nil, err
			}
		}
		entries = append(entries, e)
	}
	return entries, nil
}

func write(dir string, e Entry) error {
	text, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("write ledger: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, e.Name+".json"), text, 0o600); err != nil {
		return fmt.Errorf("write ledger: %w", err)
	}
	return nil
}

// remove removes a lab from the ledger, complete or not, and its control groups.
func remove(dir, name string) error {
	errs := []error{removeCgroups(cgroupsOf("lab-" + name))}
	for _, suffix := range []string{".sock", ".json"} {
		err := os.Remove(filepath.Join(dir, name+suffix))
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
