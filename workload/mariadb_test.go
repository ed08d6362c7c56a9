package workload

import (
	"context"
	"database/sql"
	"math"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	sqldriver "github.com/go-sql-driver/mysql"
	"golang.org/x/sys/unix"

	"tare/test/labtest"
	"tare/traffic"
)

// startMariaDB starts a real one on the loopback, at a separate port.
func startMariaDB(t *testing.T) (Place, *Child) {
	t.Helper()
	p := Place{At: labtest.FreePort(t), Dir: t.TempDir()}
	begun := time.Now()
	c, err := mariadb().Start(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("ready after %v", time.Since(begun))
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	return p, c
}

// onOneCPU binds the whole test to a CPU, as a lab binds what runs in a host:
// where the scheduler is free, a select takes 80 us or 400 by what it chose.
func onOneCPU(t *testing.T) {
	t.Helper()
	var before unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		t.Fatal(err)
	}
	bind := func(set *unix.CPUSet) {
		threads, err := os.ReadDir("/proc/self/task")
		if err != nil {
			t.Fatal(err)
		}
		for _, thread := range threads {
			id, err := strconv.Atoi(thread.Name())
			if err == nil {
				err = unix.SchedSetaffinity(id, set)
			}
			if err != nil && err != unix.ESRCH {
				t.Fatal(err)
			}
		}
	}
	var one unix.CPUSet
	for cpu := 0; one.Count() == 0; cpu++ {
		if before.IsSet(cpu) {
			one.Set(cpu)
		}
	}
	bind(&one)
	t.Cleanup(func() { bind(&before) })
}

// TestRealMySQL measures with sysbench and with our own client, on one connection
// and on several.
func TestRealMySQL(t *testing.T) {
	onOneCPU(t)
	p, _ := startMariaDB(t)
	w := mysql()
	for _, tool := range []string{"", "sysbench"} {
		for _, flows := range []int{1, 16} {
			run := runOf(w, prepared)
			run.Server, run.Tool, run.Flows = "mariadb", tool, flows
			// A select that began before the window and ended in it counts with all of its
			// time: where the machine stalled then, that is much of a short window.
			run.Duration = 500 * time.Millisecond
			if tool != "" {
				run.Duration = leastSysbench(flows)
			}
			got := driveWindow(t, w, run, p)
			known(t, got)
			consistent(t, w, got)
			m := got.Metrics
			if !(m["latency_p50"] > 0 && m["latency_p50"] <= m["latency_p95"] && m["latency_mean"] > 0) {
				t.Errorf("%q: %v", tool, m)
			}
			// In a closed loop the connections are busy all the time.
			if busy := m["rate"] * m["latency_mean"] / float64(flows); busy < 0.7 || busy > 1.05 {
				t.Errorf("%q: each of %d connections waits for %.0f %% of the window", tool, flows, 100*busy)
			}
			if want := tool == ""; want == (got.CC == "") {
				t.Errorf("%q: congestion control %q", tool, got.CC)
			}
		}
	}
}

// driveWindow measures a window of about the length that was asked for.
// sysbench ends after so many events, so that its window is as long as the
// machine's stalls make it: then it is asked again, twice at most.
func driveWindow(t *testing.T, w Workload, run Run, p Place) Tally {
	t.Helper()
	for try := 1; ; try++ {
		var mu sync.Mutex
		var edges []bool
		run.Edge = func(end bool) {
			mu.Lock()
			defer mu.Unlock()
			edges = append(edges, end)
		}
		got, err := w.Drive(t.Context(), run, p.At)
		if err != nil {
			t.Fatalf("%q, %d connections: %v", run.Tool, run.Flows, err)
		}
		if n := len(edges); n < 2 || !slices.Equal(edges[n-2:], []bool{false, true}) { // a window that was too short is repeated
			t.Errorf("%q: the edges of the window: %v", run.Tool, edges)
		}
		if got.Work > 0 && got.Window > run.Duration/3 && got.Window < 3*run.Duration {
			return got
		}
		if try == 3 {
			t.Fatalf("%q: %v selects in a window of %v, asked for %v", run.Tool, got.Work, got.Window, run.Duration)
		}
	}
}

// TestRealMariaDBIsThatOfProduction holds what the page on applications claims: the
// account needs its password and may only read, the table is wholly in memory
// and of sysbench's shape.
func TestRealMariaDBIsThatOfProduction(t *testing.T) {
	p, _ := startMariaDB(t)
	for _, wrong := range [][2]string{{accountUser, ""}, {accountUser, "guess"}, {"root", ""}, {"", ""}} {
		config := accountConfig(p.At)
		config.User, config.Passwd = wrong[0], wrong[1]
		if err := ask(t, config, "SELECT 1", new(int)); err == nil || !strings.Contains(err.Error(), "Access denied") {
			t.Errorf("account %q with password %q: %v", wrong[0], wrong[1], err)
		}
	}
	config := accountConfig(p.At)
	for _, write := range []string{"DELETE FROM sbtest1", "DROP TABLE sbtest1", "SELECT COUNT(*) FROM mysql.global_priv"} {
		if err := ask(t, config, write, new(int)); err == nil || !strings.Contains(err.Error(), "denied") {
			t.Errorf("%s: %v", write, err)
		}
	}
	for question, want := range map[string]int{
		"SELECT MIN(id) FROM sbtest1": 1, "SELECT MAX(id) FROM sbtest1": pointRows,
		"SELECT MIN(LENGTH(c)) FROM sbtest1": 119, "SELECT MAX(LENGTH(pad)) FROM sbtest1": 59,
		"SELECT COUNT(DISTINCT c) FROM sbtest1": pointRows,
		"SELECT @@innodb_buffer_pool_size":      128 << 20,
	} {
		var got int
		if err := ask(t, config, question, &got); err != nil || got != want {
			t.Errorf("%s: %d, %v; want %d", question, got, err, want)
		}
	}
	var name string
	var reads int
	run := runOf(mysql(), prepared)
	if _, err := mysql().Drive(t.Context(), run, p.At); err != nil {
		t.Fatal(err)
	}
	if err := ask(t, config, "SHOW GLOBAL STATUS LIKE 'Innodb_data_read'", &name, &reads); err != nil || reads > 0 {
		t.Errorf("%d bytes were read from files: %v", reads, err)
	}
}

// ask asks one question.
func ask(t *testing.T, config *sqldriver.Config, question string, answer ...any) error {
	t.Helper()
	connector, err := sqldriver.NewConnector(config)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	return db.QueryRowContext(t.Context(), question).Scan(answer...)
}

// TestRealMariaDBDies kills it under each client.
func TestRealMariaDBDies(t *testing.T) {
	for _, tool := range []string{"", "sysbench"} {
		p, c := startMariaDB(t)
		run := runOf(mysql(), prepared)
		run.Tool, run.Duration = tool, 20*time.Second
		var killed error
		run.Edge = func(end bool) {
			if !end {
				killed = c.cmd.Process.Kill()
			}
		}
		begun := time.Now()
		_, err := mysql().Drive(t.Context(), run, p.At)
		if err == nil || killed != nil || time.Since(begun) > 10*time.Second {
			t.Errorf("%q: %v after %v; killed: %v", tool, err, time.Since(begun), killed)
		}
		<-c.done
		if ended := c.Ended(); ended == nil || !strings.Contains(ended.Error(), "mariadbd ended (signal: killed): its log ends: ") ||
			!strings.Contains(ended.Error(), "ready for connections") {
			t.Errorf("%q: %v", tool, ended)
		}
	}
}

// TestRealMySQLTakesTurns selects in ten slots that are all of the time.
func TestRealMySQLTakesTurns(t *testing.T) {
	p, _ := startMariaDB(t)
	var clock unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &clock); err != nil {
		t.Fatal(err)
	}
	const ms = time.Millisecond
	run := runOf(mysql(), prepared)
	run.Tool, run.Flows = "", 1
	run.Slots = &traffic.Slots{Begin: time.Duration(clock.Nano()) + 500*ms, Window: 100 * ms, Length: 20 * ms, Settle: ms, Guard: ms, Runs: 1, Warmup: 1, Cycles: 10}
	run.Warmup, run.Duration = 500*ms, run.Slots.Span()
	tally, err := mysql().Drive(t.Context(), run, p.At)
	if err != nil {
		t.Fatal(err)
	}
	labtest.Equal(t, "slots", len(tally.Slots["rate"]), run.Slots.Cycles)
	labtest.AtMost(t, "time of the window", tally.Window, run.Slots.Window)
	if tally.Metrics["rate"] <= 0 || tally.Metrics["latency_p50"] <= 0 {
		t.Errorf("metrics %v", tally.Metrics)
	}
}

// TestRealTooManyConnections asks for more than the server takes.
func TestRealTooManyConnections(t *testing.T) {
	p, _ := startMariaDB(t)
	for _, tool := range []string{"", "sysbench"} {
		run := runOf(mysql(), prepared)
		run.Tool, run.Flows, run.Edge = tool, mostSessions+100, func(bool) {}
		_, err := mysql().Drive(t.Context(), run, p.At)
		if err == nil || !strings.Contains(err.Error(), "Too many connections") {
			t.Errorf("%q: %v", tool, err)
		}
	}
}

// TestRealMariaDBCannotStart holds its error where it does not start.
func TestRealMariaDBCannotStart(t *testing.T) {
	start := func(p Place) error {
		c, err := mariadb().Start(t.Context(), p)
		if err == nil {
			return c.Stop()
		}
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	at := l.Addr().(*net.TCPAddr).AddrPort()
	t.Run("its port is taken", func(t *testing.T) {
		if err := start(Place{At: at, Dir: t.TempDir()}); err == nil || !strings.Contains(err.Error(), "Address already in use") {
			t.Error(err)
		}
	})
	t.Run("its folder was used", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "data"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := start(Place{At: labtest.FreePort(t), Dir: dir}); err == nil || !strings.Contains(err.Error(), "file exists") {
			t.Error(err)
		}
	})
}

// TestRealEventsFillTheWindow holds that sysbench's window is about as long as was
// asked for, at any number of connections.
func TestRealEventsFillTheWindow(t *testing.T) {
	p, _ := startMariaDB(t)
	run := runOf(mysql(), prepared)
	run.Flows, run.Duration = 4, 400*time.Millisecond
	events, err := eventsOf(t.Context(), run, p.At)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	done, err := selectPoints(ctx, run, p.At)
	if err != nil {
		t.Fatal(err)
	}
	if ratio := float64(events) / float64(done.count); math.Abs(math.Log(ratio)) > math.Log(3) {
		t.Errorf("%d events were foreseen, %d came", events, done.count)
	}
}
