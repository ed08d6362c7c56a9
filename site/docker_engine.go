package site

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tare/catalog"
	"tare/engine"
	"tare/lab"
	"tare/result"
)

const (
	// runLabel is the label of everything that a run makes at an engine. Its value is the run.
	runLabel = "tare.run"
	// imageName begins the name of a run's image.
	imageName = "localhost/tare-run:"
	// podman is the client of engines that have connections for contexts.
	podman = "podman"
	// askWait is how long an engine may take to answer.
	askWait = time.Minute
	// endWait is how long a container may take to go once its program has ended.
	endWait = 10 * time.Second
)

// dockerEngine is one engine, as the user's command asks it.
type dockerEngine struct {
	host    string   // whose engine it is: h1, h2
	command []string // docker --context a
	run     string   // empty: of no run
}

// engines are those of the contexts.
func (d Docker) engines(run string) ([]dockerEngine, error) {
	command := d.Command
	if command == "" {
		command = "docker"
		if _, err := exec.LookPath(command); err != nil {
			command = podman
		}
	}
	if _, err := exec.LookPath(command); err != nil {
		return nil, &ClientError{err, "install docker.io or podman, or name another with --docker-command"}
	}
	option := "--context"
	if filepath.Base(command) == podman {
		option = "--connection"
	}
	if len(d.Contexts) == 0 {
		return []dockerEngine{{"h1", []string{command}, run}}, nil
	}
	var all []dockerEngine
	for n, name := range d.Contexts {
		all = append(all, dockerEngine{fmt.Sprintf("h%d", n+1), []string{command, option, name}, run})
	}
	return all, nil
}

// ask has the engine carry out a command, and gives what it printed.
func (e dockerEngine) ask(ctx context.Context, in io.Reader, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	words := slices.Concat(e.command, args)
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	var out bytes.Buffer
	said := &complaint{}
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = in, &out, said, leaveWait
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, fmt.Errorf("ask the engine by %q: %w: it said: %s", strings.Join(words, " "), err, said)
	}
	return out.Bytes(), nil
}

// lines are the lines that the engine prints.
func (e dockerEngine) lines(ctx context.Context, args ...string) ([]string, error) {
	out, err := e.ask(ctx, nil, args...)
	return strings.Fields(string(out)), err
}

// dockerNetwork is a network as an engine describes it. Podman has the same names in lower
// case.
type dockerNetwork struct {
	Name       string
	ID         string
	Driver     string
	Scope      string
	Internal   bool
	Attachable bool
	Ingress    bool
	ConfigOnly bool
}

const (
	swarmScope = "swarm"
	// swarmGateway is the bridge by which containers of a Swarm leave their host.
	swarmGateway = "docker_gwbridge"
)

// takes reports whether a container can be attached to it.
func (n dockerNetwork) takes() bool {
	return n.Name != swarmGateway && n.Driver != "host" && n.Driver != "null" && n.Driver != "" && !n.Ingress && !n.ConfigOnly && (n.Scope != swarmScope || n.Attachable)
}

// publishes reports whether containers on it have ports published.
func (n dockerNetwork) publishes() bool { return n.Driver == "bridge" && !n.Internal }

// joins reports whether it is the same network, or one of that name at another engine.
func (n dockerNetwork) joins(other dockerNetwork) bool {
	return n.Name == other.Name && n.Driver == other.Driver && (n.Scope != swarmScope || n.ID == other.ID)
}

// networks are those that a container can be attached to.
func (e dockerEngine) networks(ctx context.Context) ([]dockerNetwork, error) {
	ids, err := e.lines(ctx, "network", "ls", "--quiet", "--no-trunc")
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	out, err := e.ask(ctx, nil, slices.Concat([]string{"network", "inspect"}, ids)...)
	if err != nil {
		return nil, err
	}
	all, err := readNetworks(out)
	if err != nil {
		return nil, fmt.Errorf("read the networks of the engine of %s: %w", e.host, err)
	}
	return all, nil
}

// readNetworks reads those that a container can be attached to, by their names.
func readNetworks(inspected []byte) (all []dockerNetwork, err error) {
	if err := json.Unmarshal(inspected, &all); err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(n dockerNetwork) bool { return !n.takes() })
	slices.SortFunc(all, func(a, b dockerNetwork) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// load gives the engine an image of the tare that fits its machine.
func (e dockerEngine) load(ctx context.Context) error {
	all, err := programs()
	if err != nil {
		return err
	}
	machine, err := e.ask(ctx, nil, "info", "--format", "{{.Architecture}}")
	if err != nil { // Podman, which may be called docker
		machine, err = e.ask(ctx, nil, "info", "--format", "{{.Host.Arch}}")
	}
	if err != nil {
		return err
	}
	own, err := fits(all, strings.TrimSpace(string(machine)), e.host)
	if err != nil {
		return err
	}
	reader, writer := io.Pipe()
	image := engine.Image{Name: imageName + e.run, Program: own.file, Arch: own.arch, Labels: map[string]string{runLabel: e.run}, Entrypoint: []string{lab.SelfInImage}}
	go func() { writer.CloseWithError(image.Write(writer)) }()
	_, err = e.ask(ctx, reader, "load", "--quiet")
	return errors.Join(err, reader.Close())
}

// place is a container on one of the engine's networks, as a place. Its host publishes ports.
func (e dockerEngine) place(name string, on dockerNetwork, ports ...uint16) Far {
	words := append(slices.Clone(e.command), "run", "--rm", "--interactive", "--label", runLabel+"="+e.run, "--network", on.Name)
	for _, port := range ports {
		for _, protocol := range []string{"tcp", "udp"} {
			words = append(words, "--publish", fmt.Sprintf("%d:%d/%s", port, port, protocol))
		}
	}
	shown := strings.Join(append(slices.Clone(e.command), "run", "--network", on.Name), " ")
	words = append(append(words, dockerLimits...), imageName+e.run, OutpostVerb)
	return Far{
		Name: name, Network: catalog.DockerPrefix + on.Name, Command: shellWords(words...), Shown: shown,
		Direct: true, Published: len(ports) > 0,
	}
}

// remove removes the containers of the run, when they have ended or are late, and its image.
func (e dockerEngine) remove(ctx context.Context) error {
	ofRun := "label=" + runLabel + "=" + e.run
	left, err := e.lines(ctx, "ps", "--all", "--quiet", "--filter", ofRun)
	for begun := time.Now(); err == nil && len(left) > 0 && time.Since(begun) < endWait; time.Sleep(endWait / 100) {
		left, err = e.lines(ctx, "ps", "--all", "--quiet", "--filter", ofRun)
	}
	for n := 0; err == nil && n < len(left); n++ {
		if _, err = e.ask(ctx, nil, "rm", "--force", left[n]); isGone(err) {
			err = nil
		}
	}
	var images []string
	if err == nil {
		images, err = e.lines(ctx, "image", "ls", "--quiet", "--filter", ofRun)
	}
	if err == nil && len(images) > 0 {
		_, err = e.ask(ctx, nil, "image", "rm", imageName+e.run)
	}
	if err != nil {
		err = fmt.Errorf("remove what this run made there: %w; once the engine answers: tare clean --site docker", err)
	}
	return err
}

// clean removes what runs that have ended left. A run that goes on has a container that runs.
func (e dockerEngine) clean(ctx context.Context, dry bool, name func(Leftover)) error {
	kinds := []struct {
		what   string
		list   []string
		remove []string
	}{
		{"container", []string{"ps", "--all", "--filter", "label=" + runLabel, "--format", `{{.ID}} {{.Label "` + runLabel + `"}} {{.State}}`}, []string{"rm"}},
		{"image", []string{"image", "ls", "--filter", "label=" + runLabel, "--format", "{{.ID}} {{.Tag}} -"}, []string{"image", "rm"}},
	}
	var running []string // the runs that go on
	for _, kind := range kinds {
		out, err := e.ask(ctx, nil, kind.list...)
		if err != nil {
			return err
		}
		var there [][]string
		for line := range strings.Lines(string(out)) {
			if words := strings.Fields(line); len(words) == 3 {
				there = append(there, words)
			}
		}
		for _, words := range there {
			if words[2] == "running" {
				running = result.AddOnce(running, words[1])
			}
		}
		for _, words := range there {
			if slices.Contains(running, words[1]) {
				continue
			}
			name(Leftover{Where: strings.Join(e.command, " "), What: kind.what + " " + words[0] + " of run " + words[1]})
			if dry {
				continue
			}
			if _, err := e.ask(ctx, nil, slices.Concat(kind.remove, words[:1])...); err != nil && !isGone(err) && !e.goes(ctx, kind.list, words[0]) {
				return err
			}
		}
	}
	return nil
}

// isGone reports whether the engine refused to remove a container because there is none. One that
// was removed while its engine started again may be listed until that starts once more.
func isGone(err error) bool { return err != nil && strings.Contains(err.Error(), "No such container") }

// goes waits until what can't be removed is gone by itself. An engine that starts again removes
// containers that have ended, and lists for a moment what it no longer knows.
func (e dockerEngine) goes(ctx context.Context, list []string, id string) bool {
	for begun := time.Now(); time.Since(begun) < endWait && ctx.Err() == nil; time.Sleep(endWait / 100) {
		out, err := e.ask(ctx, nil, list...)
		if err != nil {
			return false
		}
		if !strings.Contains(string(out), id) {
			return true
		}
	}
	return false
}
