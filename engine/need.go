package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"tare/lab"
)

// Need is something that an engine or a network needs in addition to the
// kernel's usual devices.
type Need struct {
	What    string                 // "dockerd"
	Get     string                 // the one command that gets it
	Find    func() (string, error) // its path; "" for what has none
	Version []string               // the arguments that make it print its version; nil: it has none
	Tried   bool                   // Find makes something of it in a namespace, which takes a while
}

// MissingError reports what this machine lacks, and how to get it.
type MissingError struct {
	What, Get string
	Err       error
}

func (e *MissingError) Error() string { return fmt.Sprintf("%s: %v: %s", e.What, e.Err, e.Get) }
func (e *MissingError) Unwrap() error { return e.Err }

// NeedProgram is a program of a Debian package, or one that `make parts` built.
func NeedProgram(name, debianPackage string, version ...string) Need {
	return Need{
		What: name, Get: "apt-get install " + debianPackage, Version: version,
		Find: func() (string, error) { return Program(name) },
	}
}

// NeedPart is a program that `make parts` builds, for the user that types it.
func NeedPart(name string, version ...string) Need {
	need := NeedProgram(name, "", version...)
	need.Get = "make parts (as the user that runs tare)"
	return need
}

// NeedRoot is the right to run as the machine's root.
func NeedRoot() Need {
	return Need{What: "root", Get: "run tare as root", Find: func() (string, error) {
		if !lab.IsRoot() {
			return "", errors.New("real engines run as root only")
		}
		return "", nil
	}}
}

// Require finds a need. Its error is a *MissingError.
func (n Need) Require() (path string, err error) {
	path, err = n.Find()
	if err != nil {
		return "", &MissingError{n.What, n.Get, err}
	}
	return path, nil
}

// Program finds a program on the PATH, in the folders of administrators'
// programs, or among the parts that were built.
func Program(name string) (string, error) {
	for _, at := range []string{name, "/usr/sbin/" + name, "/sbin/" + name, "/usr/local/sbin/" + name, filepath.Join(PartsDir(), name)} {
		if path, err := lab.LookPath(at); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is not on the PATH and not in %s", name, PartsDir())
}

// PartsDir is the folder of the programs that `make parts` builds.
func PartsDir() string {
	cache, err := os.UserCacheDir() // XDG_CACHE_HOME, else ~/.cache
	if err != nil {
		cache = "/var/cache"
	}
	return filepath.Join(cache, "tare", "parts")
}

var versionNumber = regexp.MustCompile(`\d+\.\d+[0-9A-Za-z.+~-]*( \((nf_tables|legacy)\))?`)

// VersionNumber finds the version in what a program prints: the first word that
// looks like one, and which of the kernel's two tables iptables writes to; empty: none does.
func VersionNumber(text string) string { return versionNumber.FindString(text) }

// Versions asks the needs that have a version for it, in a host: name -> version.
// Some programs print it on their standard error.
func Versions(h *lab.Host, needs []Need) (map[string]string, error) {
	versions := map[string]string{}
	for _, need := range needs {
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
		versions[need.What] = VersionNumber(text)
	}
	return versions, nil
}
