package trace_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/cilium/ebpf"

	"tare/test/labtest"
	"tare/trace"
)

// victim is set in a process that traces until it is killed.
const victim = "TARE_TEST_TRACES"

func TestMain(m *testing.M) {
	if os.Getenv(victim) == "" {
		os.Exit(m.Run())
	}
	tracer, err := trace.Open()
	if err == nil && tracer.Tier != trace.Stacks {
		err = fmt.Errorf("tier %d: %v", tracer.Tier, tracer.Lacks)
	}
	if err == nil {
		_, err = tracer.Follow(trace.Pass{Port: port}, func() error {
			_, err := tracer.Profile(nil, func() error {
				fmt.Println("tracing")
				_, err := io.Copy(io.Discard, os.Stdin) // until it is killed
				return err
			})
			return err
		})
	}
	fmt.Println(err)
	os.Exit(1)
}

// programs are those of BPF that a process holds (proc(5), fdinfo).
func programs(t *testing.T, pid int) []ebpf.ProgramID {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/fdinfo/*", pid))
	if err != nil {
		t.Fatal(err)
	}
	var held []ebpf.ProgramID
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it was closed meanwhile
		}
		if m := regexp.MustCompile(`(?m)^prog_id:\s*(\d+)$`).FindSubmatch(text); m != nil {
			id, err := strconv.ParseUint(string(m[1]), 10, 32)
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, ebpf.ProgramID(id))
		}
	}
	return held
}

// A program that was released stays until no CPU can be in it any more.
func TestLabKilledLeavesNothing(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), victim+"=1")
	cmd.Stderr = t.Output()                    // of one that ends by itself
	if _, err := cmd.StdinPipe(); err != nil { // it stays open
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "tracing\n" {
		t.Fatalf("it printed %q, %v", line, err)
	}
	var its []ebpf.ProgramID
	labtest.Await(t, "it holds programs while it traces", func() bool {
		its = programs(t, cmd.Process.Pid)
		return len(its) > 0
	})
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("it ended by itself")
	}
	for _, id := range its {
		labtest.Await(t, fmt.Sprintf("the kernel has released program %d", id), func() bool {
			program, err := ebpf.NewProgramFromID(id)
			if err == nil {
				program.Close()
			}
			return errors.Is(err, os.ErrNotExist)
		})
	}
}
