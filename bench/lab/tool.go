package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"tare/result"
)

// benchLab is the name of the lab that is built.
const benchLab = "bench"

// trial measures one or several figures at the same time.
type trial struct {
	rounds  int
	figures []figure
	measure func(tare string) ([]float64, error)
}

// figure is what a user waits for or pays, with the most that it should be.
type figure struct {
	what string
	unit string
	most float64
}

// trials are those of the program itself.
func trials() []trial {
	return []trial{
		{5, []figure{{"1,000 containers on 10 hosts: up", "s", 5}, {"1,000 containers on 10 hosts: down", "s", 1}}, thousand},
		{3, []figure{{"all networks at once: up", "s", 10}, {"all networks at once: memory", "MB", 900}}, everything},
		{3, []figure{{"go build from a filled cache", "s", 20}, {"the binary", "MB", 50}}, build},
	}
}

// tool writes the figures.
func tool(w io.Writer, tare string) error {
	fmt.Fprintf(w, "%-36s %28s %9s\n", "", "median [min, max]", "at most")
	for _, t := range trials() {
		all := make([][]float64, len(t.figures))
		for range t.rounds {
			values, err := t.measure(tare)
			if err != nil {
				return fmt.Errorf("%s: %w", t.figures[0].what, err)
			}
			for n, v := range values {
				all[n] = append(all[n], v)
			}
		}
		for n, f := range t.figures {
			fmt.Fprintf(w, "%-36s %25s %-2s %6.0f %s\n", f.what, spread(all[n]), f.unit, f.most, f.unit)
		}
	}
	return nil
}

// output runs a command to its end, and returns what it wrote.
func output(name string, args ...string) ([]byte, error) {
	var said bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("run %s %v: %w: %s", name, args, err, said.String())
	}
	return out, nil
}

// thousand are the seconds until a large lab is up, and until it is gone.
func thousand(tare string) ([]float64, error) {
	begun := time.Now()
	if _, err := output(tare, "lab", "up", "bridge", "--name", benchLab, "--hosts", "10", "--containers", "100"); err != nil {
		return nil, err
	}
	up := time.Since(begun).Seconds()
	begun = time.Now()
	_, err := output(tare, "lab", "down", "--name", benchLab)
	return []float64{up, time.Since(begun).Seconds()}, err
}

// everything is what a lab of all networks that run here takes: the seconds until it is up,
// and the megabytes of its processes.
func everything(tare string) ([]float64, error) {
	out, err := output(tare, "run", "--networks", "all", "--paths", "cross-host", "--workloads", "tcp_rr",
		"--nic", "full", "--design", "windows", "--blocks", "1", "--duration", "10ms", "--json")
	if err != nil {
		return nil, err
	}
	var res result.Result
	if err := json.Unmarshal(out, &res); err != nil {
		return nil, fmt.Errorf("read the result: %w", err)
	}
	return []float64{float64(res.Environment.LabUp), float64(res.Environment.LabMemoryBytes) / 1e6}, nil
}

// build links what is compiled already: the seconds, and the megabytes of the binary.
func build(string) (values []float64, err error) {
	folder, err := os.MkdirTemp("", "bench-lab-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the binary: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	binary := filepath.Join(folder, "tare")
	begun := time.Now()
	if _, err := output("go", "build", "-ldflags", "-s -w", "-o", binary, "./cmd/tare"); err != nil {
		return nil, err
	}
	took := time.Since(begun).Seconds()
	info, err := os.Stat(binary)
	if err != nil {
		return nil, fmt.Errorf("look at the binary: %w", err)
	}
	return []float64{took, float64(info.Size()) / 1e6}, nil
}
