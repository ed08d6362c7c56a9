package workload

import (
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

// TestRealRedis measures both modes on one connection and on ten.
func TestRealRedis(t *testing.T) {
	w := redis()
	_, place := startServer(t, redisServer())
	for _, mode := range w.Modes {
		for _, c := range []struct{ flows, size int }{{1, 1}, {10, 1024}, {2, 1 << 20}} {
			run := runOf(w, mode)
			run.Flows, run.Size, run.Duration = c.flows, c.size, 300*time.Millisecond
			var edges []bool
			run.Edge = func(end bool) { edges = append(edges, end) }
			if err := redisServer().Prepare(t.Context(), place, run); err != nil {
				t.Fatal(err)
			}
			got, err := w.Drive(t.Context(), run, place.At)
			if err != nil {
				t.Fatalf("%s %+v: %v", mode, c, err)
			}
			known(t, got)
			consistent(t, w, got)
			m := got.Metrics
			if !(m["latency_p50"] > 0 && m["latency_mean"] > 0) || c.size < 1<<20 && !(m["latency_p50"] <= m["latency_p90"] && m["latency_p90"] <= m["latency_p99"]) {
				t.Errorf("%s %+v: %v", mode, c, m)
			}
			// In a closed loop the connections are busy all the time.
			if busy := m["rate"] * m["latency_mean"] / float64(c.flows); busy < 0.5 || busy > 1.2 {
				t.Errorf("%s: each of %d connections waits for %.0f %% of the window", mode, c.flows, 100*busy)
			}
			if got.CC == "" || len(edges) != 2 || edges[0] || !edges[1] {
				t.Errorf("%s: congestion control %q, edges %v", mode, got.CC, edges)
			}
		}
	}
	if files, err := os.ReadDir(place.Dir); err != nil || len(files) > 0 {
		t.Errorf("it wrote files: %v, %v", files, err)
	}
}

// TestRealRedisWithoutTheValue is refused, where the run was not prepared.
func TestRealRedisWithoutTheValue(t *testing.T) {
	_, place := startServer(t, redisServer())
	if tally, err := redis().Drive(t.Context(), runOf(redis(), "get"), place.At); err == nil || !strings.Contains(err.Error(), `answered "$-1" where "$1024" was due`) {
		t.Errorf("%v, %v", tally.Metrics, err)
	}
}

// TestRealRedisDies kills it under its client.
func TestRealRedisDies(t *testing.T) {
	child, place := startServer(t, redisServer())
	run := runOf(redis(), "get")
	run.Flows, run.Duration = 10, 20*time.Second
	if err := redisServer().Prepare(t.Context(), place, run); err != nil {
		t.Fatal(err)
	}
	var killed error
	run.Edge = func(end bool) {
		if !end {
			killed = child.cmd.Process.Kill()
		}
	}
	begun := time.Now()
	_, err := redis().Drive(t.Context(), run, place.At)
	if err == nil || killed != nil || time.Since(begun) > 10*time.Second {
		t.Errorf("%v after %v; killed: %v", err, time.Since(begun), killed)
	}
	<-child.done
	if ended := child.Ended(); ended == nil || !strings.Contains(ended.Error(), "redis-server ended (signal: killed): its log ends: ") {
		t.Error(ended)
	}
}

// TestRealRedisCannotStart holds its error where its port is taken.
func TestRealRedisCannotStart(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	child, err := redisServer().Start(t.Context(), Place{At: l.Addr().(*net.TCPAddr).AddrPort(), Dir: t.TempDir()})
	if err == nil {
		err = child.Stop()
	}
	if err == nil || !strings.Contains(err.Error(), "Address already in use") {
		t.Error(err)
	}
}
