package workload

import (
	"database/sql"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sqldriver "github.com/go-sql-driver/mysql"

	"tare/catalog"
	"tare/test/labtest"
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

// TestRealMariaDB has one server for all that none of these ends.
func TestRealMariaDB(t *testing.T) {
	p, _ := startMariaDB(t)
	t.Run("of production", func(t *testing.T) { ofProduction(t, p) })
	t.Run("clients", func(t *testing.T) { clientsOfMariaDB(t, p) })
	t.Run("too many connections", func(t *testing.T) { tooManyConnections(t, p) })
}

// clientsOfMariaDB measures with sysbench and with our own client, on one connection
// and on several.
func clientsOfMariaDB(t *testing.T, p Place) {
	w := whole("mysql")
	for _, tool := range []string{"", "sysbench"} {
		for _, flows := range []int{1, 16} {
			run := runOf(w, catalog.Prepared)
			run.Server, run.Tool, run.Flows = "mariadb", tool, flows
			if tool != "" {
				run.Duration = leastSysbench(flows)
			}
			got := driven(t, w, run, p)
			if want := tool == ""; want == (got.CC == "") {
				t.Errorf("%q: congestion control %q", tool, got.CC)
			}
		}
	}
}

// driven measures a window of an application and holds what is so of each, on however
// busy a machine.
func driven(t *testing.T, w Workload, run Run, p Place) Tally {
	t.Helper()
	var mu sync.Mutex
	var edges []bool
	run.Edge = func(end bool) {
		mu.Lock()
		defer mu.Unlock()
		edges = append(edges, end)
	}
	got, err := w.Drive(t.Context(), run, p.At)
	if err != nil {
		t.Fatalf("%q, %s, %d connections: %v", run.Tool, run.Mode, run.Flows, err)
	}
	if n := len(edges); n < 2 || !slices.Equal(edges[n-2:], []bool{false, true}) { // a window that was too short is repeated
		t.Errorf("%q: the edges of the window: %v", run.Tool, edges)
	}
	known(t, got)
	consistent(t, w, got)
	ascend(t, got.Metrics)
	labtest.MoreThan(t, "work", got.Work, 0)
	labtest.MoreThan(t, "latency_mean", got.Metrics["latency_mean"], 0)
	return got
}

// ofProduction holds what the page on applications claims: the
// account needs its password and may only read, the table is wholly in memory
// and of sysbench's shape.
func ofProduction(t *testing.T, p Place) {
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
	run := runOf(whole("mysql"), catalog.Prepared)
	if _, err := whole("mysql").Drive(t.Context(), run, p.At); err != nil {
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

// TestRealMariaDBDies kills it under both clients.
func TestRealMariaDBDies(t *testing.T) {
	p, c := startMariaDB(t)
	run := runOf(whole("mysql"), catalog.Prepared)
	other := run
	other.Tool = "sysbench"
	diesUnder(t, whole("mysql"), c, p, run, other)
	if ended := c.Ended(); ended == nil || !strings.Contains(ended.Error(), "mariadbd ended (signal: killed): its log ends: ") ||
		!strings.Contains(ended.Error(), "ready for connections") {
		t.Error(ended)
	}
}

// diesUnder kills a server once the windows of all runs have begun: each fails.
func diesUnder(t *testing.T, w Workload, c *Child, p Place, runs ...Run) {
	t.Helper()
	began, failed := make(chan struct{}, len(runs)), make(chan error, len(runs))
	for _, run := range runs {
		run.Duration, run.Interval = never, 0
		run.Edge = func(end bool) {
			if !end {
				began <- struct{}{}
			}
		}
		go func() {
			_, err := w.Drive(t.Context(), run, p.At)
			failed <- err
		}()
	}
	for range runs {
		select {
		case <-began:
		case err := <-failed:
			t.Fatalf("it failed before its server died: %v", err)
		}
	}
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for range runs {
		if err := <-failed; err == nil {
			t.Error("a run succeeded without its server")
		}
	}
	<-c.done
}

// tooManyConnections asks for more than the server takes.
func tooManyConnections(t *testing.T, p Place) {
	for _, tool := range []string{"", "sysbench"} {
		run := runOf(whole("mysql"), catalog.Prepared)
		run.Tool, run.Flows, run.Edge = tool, mostSessions+100, func(bool) {}
		_, err := whole("mysql").Drive(t.Context(), run, p.At)
		if err == nil || !strings.Contains(err.Error(), "Too many connections") {
			t.Errorf("%q: %v", tool, err)
		}
	}
}

// TestRealMariaDBCannotStart holds its error where it does not start.
func TestRealMariaDBCannotStart(t *testing.T) {
	t.Parallel() // it mostly waits, as the others that can't
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
