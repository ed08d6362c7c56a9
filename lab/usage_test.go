package lab

import (
	"os"
	"testing"
	"time"

	"tare/test/labtest"
)

// spinning is the CPU time of the shells of a cluster.
func spinning(t *testing.T, l *Lab, cluster string) time.Duration {
	t.Helper()
	usage, err := l.Usage()
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range usage {
		if u.Cluster == cluster && u.Name == "sh" {
			return u.CPU
		}
	}
	return 0
}

func testUsage(t *testing.T) {
	l := open(t)
	busy, idle := setUp(t, l, pairOf("busy")), setUp(t, l, pairOf("idle"))
	for cluster, line := range map[*Cluster]string{busy: "while :; do :; done", idle: "while :; do sleep 100; done"} {
		if _, err := cluster.Hosts[1].StartDaemon(Daemon{Name: "d", Argv: []string{"sh", "-c", line}}); err != nil {
			t.Fatal(err)
		}
	}
	if self, err := os.Readlink("/proc/self"); err != nil || self != "1" {
		if usage, err := l.Usage(); err != nil || len(usage) > 0 {
			t.Errorf("without its own /proc the lab sees %v, %v", usage, err)
		}
		return
	}
	labtest.Await(t, "a busy shell has used much more CPU time than one that sleeps", func() bool {
		idle := spinning(t, l, "idle")
		return idle > 0 && spinning(t, l, "busy") > 10*idle
	})
	memory, err := Memory()
	if err != nil || memory < 1<<20 || memory > 1<<30 {
		t.Errorf("the lab holds %d bytes, %v", memory, err)
	}
}

func TestShareOfMemory(t *testing.T) {
	for text, want := range map[string]uint64{
		"55d2f000-7ffc1000 ---p 00000000 00:00 0  [rollup]\nRss:   2000 kB\nPss:   1234 kB\nPss_Dirty:  1 kB\n": 1234 << 10,
		"": 0, "Pss: many kB\n": 0,
	} {
		if got := shareOf([]byte(text)); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
