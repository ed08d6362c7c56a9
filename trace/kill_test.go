package trace_test

import (
	"bufio"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/cilium/ebpf"

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
				select {}
			})
			return err
		})
	}
	fmt.Println(err)
	os.Exit(1)
}

// programs are those of ours that the kernel holds, by a name that no other has.
// One that was released stays until no CPU can be in it any more.
func programs(t *testing.T) map[ebpf.ProgramID]bool {
	t.Helper()
	held := map[ebpf.ProgramID]bool{}
	for id := ebpf.ProgramID(0); ; {
		next, err := ebpf.ProgramGetNextID(id)
		if errors.Is(err, os.ErrNotExist) {
			return held
		}
		if err != nil {
			t.Fatal(err)
		}
		id = next
		program, err := ebpf.NewProgramFromID(id)
		if errors.Is(err, os.ErrNotExist) {
			continue // it went meanwhile
		}
		if err != nil {
			t.Fatal(err)
		}
		if info, err := program.Info(); err == nil && info.Name == "recv_length" {
			held[id] = true
		}
		program.Close()
	}
}

func TestLabKilledLeavesNothing(t *testing.T) {
	before := programs(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), victim+"=1")
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
	its := programs(t)
	maps.DeleteFunc(its, func(id ebpf.ProgramID, _ bool) bool { return before[id] })
	if len(its) == 0 {
		t.Error("no program while it traces")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("it ended by itself")
	}
	gone := func() bool {
		now := programs(t)
		return !slices.ContainsFunc(slices.Collect(maps.Keys(its)), func(id ebpf.ProgramID) bool { return now[id] })
	}
	for begun := time.Now(); !gone(); time.Sleep(10 * time.Millisecond) {
		if time.Since(begun) > 10*time.Second {
			t.Fatalf("of its programs %v are held after it was killed: %v", its, programs(t))
		}
	}
}
