package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"tare/test/script"
)

// TestMain gives scripts tare as this binary has it, behind a wall: what it does has built
// nothing, and what would build something fails as for a user who may not.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"tare": walled, "rehearse": rehearse})
}

func walled() {
	if err := script.Wall(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(99)
	}
	os.Exit(run(os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr}))
}

// TestScripts runs the scripts of commands that build nothing.
func TestScripts(t *testing.T) {
	tare, err := exec.LookPath("tare") // where testscript.Main has put it
	if err != nil {
		t.Fatal(err)
	}
	covered := script.Covered(t)
	testscript.Run(t, testscript.Params{
		Dir:         "testdata/quick",
		WorkdirRoot: script.Folder(t),
		Cmds:        script.Commands(),
		Setup: func(env *testscript.Env) error {
			env.Setenv("CELL", "--networks=host --paths=same-host --workloads=tcp_rr --duration=60ms --warmup=5ms")
			env.Setenv("TARE_BIN", filepath.Dir(tare))
			env.Setenv("XDG_RUNTIME_DIR", env.WorkDir) // the ledger of an ordinary user's labs
			env.Setenv("GOCOVERDIR", covered)
			return os.Chmod(env.WorkDir, 0o777)
		},
	})
}
