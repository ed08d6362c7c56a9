package mutants

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// asGo begins the names of the environment variables that the stand-in reads; its
// own value is the path of the real go.
const asGo = "TARE_MUTANTS_GO"

// What the stand-in returns is what gremlins makes of it.
const (
	lives     = 0
	dies      = 1
	notViable = 2 // it does not compile, or is not in the sample
)

// standIn is what gremlins runs in the place of go. A mutant that does not compile fails like one
// that a test kills if go itself is asked, and gremlins can take no samples. It would not try what
// no test covers: that is alive, too, and may not compile.
func standIn(args []string) int {
	switch {
	case args[0] != "test": // modules to download: go test -c does it
		return 0
	case slices.Contains(args, "-coverprofile"):
		return failed(coverAll(args[slices.Index(args, "-coverprofile")+1]))
	}
	return tryMutant()
}

func failed(err error) int {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// coverAll writes a profile that covers each line of the package.
func coverAll(profile string) error {
	pkg := os.Getenv(asGo + "_PACKAGE")
	names, err := filepath.Glob(filepath.Join(os.Getenv(asGo+"_ROOT"), pkg, "*.go"))
	if err != nil {
		return err
	}
	text := "mode: set\n"
	for _, name := range names {
		text += fmt.Sprintf("tare/%s/%s:1.1,100000.1 1 1\n", pkg, filepath.Base(name))
	}
	return os.WriteFile(profile, []byte(text), 0o644)
}

// tryMutant tests the copy of the package in which it was started.
func tryMutant() int {
	pkg, binary := os.Getenv(asGo+"_PACKAGE"), "./mutant.test"
	oneIn, err := strconv.ParseUint(os.Getenv(asGo+"_ONE_IN"), 10, 32)
	if err != nil {
		return failed(err)
	}
	name, line, err := changedLine(filepath.Join(os.Getenv(asGo+"_ROOT"), pkg))
	if err != nil {
		return failed(err)
	}
	if !sampled(mutant{pkg + "/" + name, line}, uint32(oneIn)) {
		return notViable
	}
	if exec.Command(os.Getenv(asGo), "test", "-c", "-vet=off", "-ldflags=-s -w", "-o", binary).Run() != nil {
		return notViable
	}
	// A mutant may loop for ever and take memory all the time.
	if err := syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: 4 << 30, Max: 4 << 30}); err != nil {
		return failed(err)
	}
	if exec.Command(binary, "-test.failfast", "-test.timeout=30s", "-test.skip="+os.Getenv(asGo+"_SKIP")).Run() != nil {
		return dies
	}
	return lives
}

// changedLine is the line of the package here that differs from that of the original, but for
// spaces: gremlins prints a file anew.
func changedLine(original string) (name, line string, err error) {
	names, err := filepath.Glob("*.go")
	if err != nil {
		return "", "", err
	}
	for _, name := range names {
		before, err := os.ReadFile(filepath.Join(original, name))
		if err != nil {
			return "", "", err
		}
		now, err := os.ReadFile(name)
		if err != nil {
			return "", "", err
		}
		if bytes.Equal(before, now) {
			continue
		}
		old := strings.Split(string(before), "\n")
		for n, line := range strings.Split(string(now), "\n") {
			if n >= len(old) || squeezed(line) != squeezed(old[n]) {
				return name, line, nil
			}
		}
	}
	return "", "", fmt.Errorf("no line differs from those in %s", original)
}
