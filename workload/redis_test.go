package workload

import (
	"net"
	"os"
	"strings"
	"testing"

	"tare/test/labtest"
)

// TestRealRedis measures both modes on one connection and on ten.
func TestRealRedis(t *testing.T) {
	w := whole("redis")
	_, place := startServer(t, redisServer())
	if tally, err := w.Drive(t.Context(), runOf(w, "get"), place.At); err == nil || !strings.Contains(err.Error(), `answered "$-1" where "$1024" was due`) {
		t.Errorf("without the value: %v, %v", tally.Metrics, err)
	}
	for _, mode := range w.Modes {
		for _, c := range []struct{ flows, size int }{{1, 1}, {10, 1024}, {2, 1 << 20}} {
			run := runOf(w, mode)
			run.Flows, run.Size = c.flows, c.size
			if err := redisServer().Prepare(t.Context(), place, run); err != nil {
				t.Fatal(err)
			}
			got := driven(t, w, run, place)
			labtest.NotEqual(t, "congestion control", got.CC, "")
		}
	}
	if files, err := os.ReadDir(place.Dir); err != nil || len(files) > 0 {
		t.Errorf("it wrote files: %v, %v", files, err)
	}
}

// TestRealRedisDies kills it under its client.
func TestRealRedisDies(t *testing.T) {
	child, place := startServer(t, redisServer())
	run := runOf(whole("redis"), "get")
	run.Flows = 10
	if err := redisServer().Prepare(t.Context(), place, run); err != nil {
		t.Fatal(err)
	}
	diesUnder(t, whole("redis"), child, place, run)
	if ended := child.Ended(); ended == nil || !strings.Contains(ended.Error(), "redis-server ended (signal: killed): its log ends: ") {
		t.Error(ended)
	}
}

// TestRealRedisCannotStart holds its error where its port is taken.
func TestRealRedisCannotStart(t *testing.T) {
	t.Parallel()
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
