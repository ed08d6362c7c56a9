package workload

import (
	"context"
	"errors"
	"math"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tare/test/labtest"
)

// startServer starts a real server at an address of this test's own.
func startServer(t *testing.T, server Server) (*Child, Place) {
	t.Helper()
	place := Place{At: labtest.FreePort(t), Dir: t.TempDir()}
	child, err := server.Start(t.Context(), place)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := child.Stop(); err != nil {
			t.Error(err)
		}
	})
	return child, place
}

// realRun is a short run of http against nginx.
func realRun(mode, tool string) Run {
	return Run{
		Mode: mode, Flows: 4, Size: 3000, Server: "nginx", Tool: tool,
		Warmup: 50 * time.Millisecond, Duration: 300 * time.Millisecond,
	}
}

// TestRealNginx has one server for all that none of these ends.
func TestRealNginx(t *testing.T) {
	_, place := startServer(t, nginx())
	t.Run("clients", func(t *testing.T) { clientsOfNginx(t, place) })
	t.Run("whole body", func(t *testing.T) { wholeBody(t, place) })
	t.Run("why tools fail", func(t *testing.T) { whyToolsFail(t, place) })
	t.Run("tools end", func(t *testing.T) { toolsEnd(t, place) })
}

// clientsOfNginx drives the real server by each client in each of its modes.
func clientsOfNginx(t *testing.T, place Place) {
	kind := whole("http")
	for _, tool := range append([]Tool{{Modes: kind.Modes}}, kind.DrivenBy...) {
		for _, mode := range tool.Modes {
			t.Run(tool.Name+mode, func(t *testing.T) {
				run := realRun(mode, tool.Name)
				if err := nginx().Prepare(t.Context(), place, run); err != nil {
					t.Fatal(err)
				}
				var edges []bool
				run.Edge = func(end bool) { edges = append(edges, end) }
				tally, err := kind.Drive(t.Context(), run, place.At)
				if err != nil {
					t.Fatal(err)
				}
				rate := tally.Metrics["rate"]
				if rate <= 0 || len(tally.Warnings) > 0 || tally.Counters["non_2xx"] != 0 {
					t.Errorf("%.0f responses a second, warnings %q, counters %v", rate, tally.Warnings, tally.Counters)
				}
				if len(edges) != 2 || edges[0] || !edges[1] {
					t.Errorf("edges %v: want the window's start and its end", edges)
				}
				if tally.Window < run.Duration || math.Abs(tally.Work/(rate*tally.Window.Seconds())-1) > 0.01 {
					t.Errorf("work %.0f in a window of %v, at %.0f a second", tally.Work, tally.Window, rate)
				}
				ascend(t, tally.Metrics)
				if tool.Name != "autocannon" {
					labtest.MoreThan(t, "latency_p50", tally.Metrics["latency_p50"], 0)
				}
			})
		}
	}
}

// ascend wants the percentiles of the latency that a window is long enough for in their order.
func ascend(t *testing.T, metrics map[string]float64) {
	t.Helper()
	last := 0.0
	for _, name := range []string{"latency_p50", "latency_p90", "latency_p95", "latency_p99"} {
		if value, known := metrics[name]; known {
			labtest.AtLeast(t, name, value, last)
			last = value
		}
	}
}

// wholeBody looks for what a run asks for.
func wholeBody(t *testing.T, place Place) {
	for _, size := range []int{1, 1024, 1 << 20} {
		run := realRun("keepalive", "")
		run.Size = size
		for range 2 { // before each run
			if err := nginx().Prepare(t.Context(), place, run); err != nil {
				t.Fatal(err)
			}
		}
		if info, err := os.Stat(filepath.Join(place.Dir, nginxRoot, bodyPath(size))); err != nil || info.Size() != int64(size) {
			t.Errorf("body of %d bytes: %v, %v", size, info, err)
		}
	}
}

// whyToolsFail: the words are the tool's own.
func whyToolsFail(t *testing.T, place Place) {
	nobody := netip.MustParseAddrPort("127.0.0.1:1")
	withoutNode := t.TempDir()
	autocannonPath, err := autocannon().Program.Find()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(autocannonPath, filepath.Join(withoutNode, "autocannon")); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		tool, path string
		to         netip.AddrPort
		want       string
	}{
		"wrk, nobody listens":        {"wrk", "", nobody, "Connection refused"},
		"autocannon, nobody listens": {"autocannon", "", nobody, "autocannon: no request succeeded"},
		"wrk, no such page":          {"wrk", "", place.At, "responses were neither 2xx nor 3xx: see whether the server can be reached"},
		"autocannon, no such page":   {"autocannon", "", place.At, "responses that were not 2xx: see whether the server can be reached"},
		"autocannon without node":    {"autocannon", withoutNode, place.At, "node"},
		"wrk is not installed":       {"wrk", t.TempDir(), place.At, "apt-get install wrk"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.path != "" {
				t.Setenv("PATH", c.path)
			}
			run := realRun("keepalive", c.tool)
			run.Size, run.Edge = 2999, func(bool) {} // which nothing has catalog.Prepared
			if tally, err := whole("http").Drive(t.Context(), run, c.to); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, %+v: want %q", err, tally, c.want)
			}
		})
	}
}

// toolsEnd: a run that is given up leaves no tool behind.
func toolsEnd(t *testing.T, place Place) {
	for _, tool := range whole("http").DrivenBy {
		ctx, cancel := context.WithCancel(t.Context())
		run := realRun("keepalive", tool.Name)
		run.Duration, run.Edge = never, func(bool) { cancel() }
		if _, err := whole("http").Drive(ctx, run, place.At); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", tool.Name, err)
		}
	}
}

// never is a window that something ends before.
const never = time.Hour

// TestRealNginxThatDies is killed in a run. Its worker goes too, and frees the port.
func TestRealNginxThatDies(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		child, place := startServer(t, nginx())
		run := realRun("keepalive", "wrk")
		if err := nginx().Prepare(t.Context(), place, run); err != nil {
			t.Fatal(err)
		}
		run.Edge = func(end bool) {
			if err := child.cmd.Process.Signal(sig); !end && err != nil {
				t.Error(err)
			}
		}
		if _, err := whole("http").Drive(t.Context(), run, place.At); err != nil {
			t.Logf("%v: %v", sig, err) // what was answered before may be enough for wrk
		}
		err := child.Ended()
		if err == nil || !strings.Contains(err.Error(), "nginx ended") || !strings.Contains(err.Error(), "its log ends: ") {
			t.Errorf("%v: %v: want how it ended, and its last lines", sig, err)
		}
		l, err := net.Listen("tcp", place.At.String())
		if err != nil {
			t.Fatalf("%v: the port is still taken: %v", sig, err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestRealNginxIsMisconfigured: its own message names what it refuses.
func TestRealNginxIsMisconfigured(t *testing.T) {
	_, err := nginx().Start(t.Context(), Place{At: netip.MustParseAddrPort("192.0.2.1:5212"), Dir: t.TempDir()}) // RFC 5737
	if err == nil || !strings.Contains(err.Error(), "bind() to 192.0.2.1:5212 failed") {
		t.Errorf("%v: want nginx's own words", err)
	}
}

// TestRealNginxWithoutRoom has a folder that its body does not fit into.
func TestRealNginxWithoutRoom(t *testing.T) {
	dir := t.TempDir()
	failed := make(chan error)
	go func() {
		runtime.LockOSThread() // for good: the mount is this thread's alone
		err := unix.Unshare(unix.CLONE_FS | unix.CLONE_NEWNS)
		if err == nil {
			err = unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
		}
		if err == nil {
			err = unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64k")
		}
		if err == nil {
			err = os.Mkdir(filepath.Join(dir, nginxRoot), 0o755)
		}
		if err != nil {
			failed <- errors.Join(errors.New("make a small folder: run the tests as root"), err)
			return
		}
		run := realRun("keepalive", "")
		run.Size = 1 << 20
		failed <- nginx().Prepare(context.Background(), Place{Dir: dir}, run)
	}()
	err := <-failed
	if !errors.Is(err, unix.ENOSPC) || !strings.Contains(err.Error(), "the folder is in memory") {
		t.Errorf("%v: want that there is no room, and what to do", err)
	}
}
