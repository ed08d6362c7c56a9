package network

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"tare/lab"
)

// Need is something that a network is made of beside the kernel.
type Need struct {
	What    string                 // "dockerd"
	Get     string                 // the one command that gets it
	Find    func() (string, error) // where it is
	Version []string               // the arguments by which it tells its version; nil: it has none
}

// MissingError says what a network lacks on this machine.
type MissingError struct {
	What, Get string
	Err       error
}

func (e *MissingError) Error() string { return fmt.Sprintf("%s: %v: %s", e.What, e.Err, e.Get) }
func (e *MissingError) Unwrap() error { return e.Err }

// program is a program of a Debian package, or one among the parts.
func program(name, debianPackage string, version ...string) Need {
	return Need{
		What: name, Get: "apt-get install " + debianPackage, Version: version,
		Find: func() (string, error) { return Program(name) },
	}
}

// part is a program that `make parts` builds, for the user that types it.
func part(name string, version ...string) Need {
	need := program(name, "", version...)
	need.Get = "make parts (as the user that runs tare)"
	return need
}

// kernel is something of the kernel's, asked for in a namespace that is thrown
// away. Whether a module is there is never guessed from a name.
func kernel(what, get string, ask func(ns *lab.Namespace) error) Need {
	return Need{What: what, Get: get, Find: func() (string, error) { return "", lab.Try(ask) }}
}

// root is the machine's own root.
func root() Need {
	return Need{What: "root", Get: "run tare as root", Find: func() (string, error) {
		if !lab.IsRoot() {
			return "", errors.New("real engines run as root only")
		}
		return "", nil
	}}
}

// Program finds a program on the PATH, where administrators' programs stand, or
// among the parts that were built.
func Program(name string) (string, error) {
	for _, at := range []string{name, "/usr/sbin/" + name, "/sbin/" + name, "/usr/local/sbin/" + name, filepath.Join(PartsDir(), name)} {
		if path, err := lab.LookPath(at); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is not on the PATH and not in %s", name, PartsDir())
}

// PartsDir is where real parts are that no package holds.
func PartsDir() string {
	cache, err := os.UserCacheDir() // XDG_CACHE_HOME, else ~/.cache
	if err != nil {
		cache = "/var/cache"
	}
	return filepath.Join(cache, "tare", "parts")
}

// Lacks tells what is missing of what the network needs.
func (n Network) Lacks() error {
	for _, need := range n.Needs {
		if _, err := need.Find(); err != nil {
			return &MissingError{need.What, need.Get, err}
		}
	}
	return nil
}

// versionNumber is what stands for a version in what a program prints.
var versionNumber = regexp.MustCompile(`\d+\.\d+[0-9A-Za-z.+~-]*`)

// versions asks the real parts for theirs, in a host. Some tell it on their
// standard error.
func (n Network) versions(h *lab.Host) (map[string]string, error) {
	parts := map[string]string{}
	for _, need := range n.Needs {
		if len(need.Version) == 0 {
			continue
		}
		path, err := need.Find()
		if err != nil {
			return nil, err
		}
		text, err := h.Run(append([]string{"sh", "-c", `exec "$0" "$@" 2>&1`, path}, need.Version...)...)
		if err != nil {
			return nil, err
		}
		parts[need.What] = versionNumber.FindString(text)
	}
	return parts, nil
}
