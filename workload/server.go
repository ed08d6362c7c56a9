package workload

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"tare/result"
)

// Program is a program of a Debian package or of npm, by the name under which
// it is started.
type Program struct {
	Name    string
	Get     string   // the one command that installs it
	Version []string // the arguments by which it prints its version
}

// Find returns where the program is: on the PATH, or in the folders of
// administrators' programs.
func (p Program) Find() (string, error) {
	for _, at := range []string{p.Name, "/usr/sbin/" + p.Name, "/usr/local/sbin/" + p.Name} {
		if path, err := exec.LookPath(at); err == nil {
			return path, nil
		}
	}
	return "", errors.New("it is not on the PATH")
}

// versionNumber is what looks like a version in what a program prints.
var versionNumber = regexp.MustCompile(`\d+\.\d+[0-9A-Za-z.+~-]*`)

// PrintedVersion returns the version that the program prints; empty: it prints none.
func (p Program) PrintedVersion(ctx context.Context) (string, error) {
	path, err := p.Find()
	if err != nil {
		return "", fmt.Errorf("ask %s for its version: %w", p.Name, err)
	}
	var printed []string
	err = runChild(ctx, "/", func(line string) { printed = append(printed, line) }, path, p.Version...)
	version := versionNumber.FindString(strings.Join(printed, "\n"))
	if version == "" && err != nil { // some end with 1 after they have printed it
		return "", err
	}
	return version, nil
}

// Server is a real application that runs of a workload go to. The agent of the
// serving end starts it once; it stays until that agent ends.
type Server struct {
	Name    string // as a plan and a cell's parameters name it: "nginx"
	Program Program
	Port    uint16 // where it listens, TCP or UDP, and what networks that publish ports publish
	// SpeaksFirst: on a new connection it sends before its client does.
	SpeaksFirst bool

	// Start starts it and returns when it answers at its address. What it writes
	// is written below its folder.
	Start func(ctx context.Context, p Place) (*Child, error)
	// Prepare makes it ready for a run, and is called before each; nil: it
	// always is.
	Prepare func(ctx context.Context, p Place, run Run) error
}

// Place is where a server runs.
type Place struct {
	At  netip.AddrPort // where it listens
	Dir string         // for this server alone, empty at its start and in memory
}

// Tool is a real client that can drive the runs of a workload instead of
// the engine. It measures real servers only.
type Tool struct {
	Name    string // as a plan and a cell's parameters name it: "wrk"
	Program Program
	Modes   []string // of the workload's, those that it can do
	// Preferred: it drives the runs where the plan names none and it is installed.
	Preferred bool
	// Least is the shortest window that it can measure on so many connections; runs
	// of a plan with shorter ones last as long. nil: it can measure any.
	Least func(connections int) time.Duration

	Send func(ctx context.Context, run Run, to netip.AddrPort) (Tally, error)
}

// FindServer returns a workload's server by name.
func (w Workload) FindServer(name string) (Server, bool) {
	return result.First(w.ServedBy, func(s Server) bool { return s.Name == name })
}

// FindTool returns a workload's tool by name.
func (w Workload) FindTool(name string) (Tool, bool) {
	return result.First(w.DrivenBy, func(t Tool) bool { return t.Name == name })
}

// Drive drives one run against a server, by the tool that the run names or by
// the engine.
func (w Workload) Drive(ctx context.Context, run Run, to netip.AddrPort) (Tally, error) {
	if run.Tool == "" {
		return w.Send(ctx, run, to)
	}
	tool, known := w.FindTool(run.Tool)
	if !known {
		return Tally{}, fmt.Errorf("tool %q of %s: unknown to this agent: use the same version at both ends", run.Tool, w.Name)
	}
	return tool.Send(ctx, run, to)
}
