package hostile

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tare/lab"
	"tare/result"
	"tare/site"
	"tare/stats"
	"tare/test/labmain"
	"tare/test/labtest"
)

// span is for how long the server is stormed in all.
var span = flag.Duration("storm", 10*time.Second, "for how long the server is stormed")

func TestMain(m *testing.M) {
	flag.Parse()
	labmain.Run(m, "hostile", labmain.Verbs{"storm": storm})
}

// What must hold.
const (
	leastGoodput = 0.95     // of that without a storm
	mostGrowth   = 32 << 20 // bytes of memory, in the storm
	comesBack    = 8 << 20  // that may stay afterwards
	each         = time.Second
)

// arena is a server in one host of a lab, and the place of its peers in another.
type arena struct {
	t       *testing.T
	l       *site.Lab
	tare    string
	token   string // the file
	address string
	pid     int
	log     *bytes.Buffer
}

// TestRealStorm does honest runs with a storm of peers that have no token and without, in
// turn.
func TestRealStorm(t *testing.T) {
	a := open(t)
	quiet := a.memory()
	var ratios []float64
	var all counts
	most := quiet
	for range int(*span / each) {
		alone := a.goodput()
		done := make(chan counts, 1)
		go func() { done <- a.storm(each + time.Second) }()
		time.Sleep(200 * time.Millisecond)
		stormed := a.goodput()
		most = max(most, a.memory())
		c := <-done
		all.Connections, all.Refused = all.Connections+c.Connections, all.Refused+c.Refused
		all.Sent, all.Received, all.Amplified = all.Sent+c.Sent, all.Received+c.Received, all.Amplified+c.Amplified
		all.CPU += c.CPU
		ratios = append(ratios, stormed/alone)
	}
	time.Sleep(3 * time.Second)
	after := a.memory()
	slices.Sort(ratios)
	at, whole := stats.Location(ratios, true)
	t.Logf("%d connections, %d refused; %d bytes sent, %d received; goodput %.3f [%.3f, %.3f] of that without; memory %.1f MiB, %.1f at most, %.1f afterwards",
		all.Connections, all.Refused, all.Sent, all.Received, at.Value, at.Low, at.High, mib(quiet), mib(most), mib(after))
	t.Logf("the storm's process took %.1f %% of a CPU, which is the honest sender's", 100*all.CPU.Seconds()/(float64(len(ratios))*(each+time.Second).Seconds()))
	if all.Connections < int64(perSecond*span.Seconds()/2) {
		t.Errorf("the storm had only %d connections", all.Connections)
	}
	if whole && at.High < leastGoodput || !whole && at.Value < leastGoodput {
		t.Errorf("goodput is %.3f [%.3f, %.3f] of that without a storm", at.Value, at.Low, at.High)
	}
	labtest.AtMost(t, "bytes of memory in the storm, above those before", most-quiet, mostGrowth)
	labtest.AtMost(t, "bytes of memory afterwards, above those before", after-quiet, comesBack)
	labtest.Equal(t, "connections that received more than they had sent", all.Amplified, 0)
	a.goodput() // it serves as before
}

func mib(bytes int) float64 { return float64(bytes) / (1 << 20) }

// open starts a server in a lab.
func open(t *testing.T) *arena {
	t.Helper()
	labtest.NoLeaks(t)
	a := &arena{t: t, tare: labtest.Tare(t), token: filepath.Join(t.TempDir(), "token"), address: "10.0.0.2:5210", log: new(bytes.Buffer)}
	if err := os.WriteFile(a.token, []byte("sesame of the storm\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := site.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	a.l = l
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	spec := site.Spec{CC: "cubic", Pin: string(lab.PinApart), RPS: true, Clusters: []site.ClusterSpec{
		{Name: "host", Network: "host", NIC: string(lab.NICFull), MTU: 1500, Hosts: 2, Containers: 1},
	}}
	if err := l.Build(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	reads, writes, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		_, err := a.exec(ctx, "host.h2", nil, writes, writes, a.tare, "serve", "--bind", a.address, "--token-file", a.token)
		ended <- err
	}()
	up := make(chan struct{})
	go func() {
		buf := make([]byte, 4096)
		for first := true; ; first = false {
			n, err := reads.Read(buf)
			a.log.Write(buf[:n])
			if first {
				close(up)
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(2 * time.Second):
			t.Error("the server has not ended after 2 s")
		}
		writes.Close()
		reads.Close()
	})
	select {
	case <-up:
	case <-time.After(10 * time.Second):
		t.Fatal("the server does not start")
	}
	a.pid = a.server()
	return a
}

// exec runs a command at a place of the lab.
func (a *arena) exec(ctx context.Context, at string, in, out, problem *os.File, argv ...string) (int, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	files := []*os.File{in, out, problem}
	for n := range files {
		if files[n] == nil {
			files[n] = null
		}
	}
	return a.l.Exec(ctx, at, argv, files...)
}

// output runs a command of the peers' host, and gives what it wrote.
func (a *arena) output(argv ...string) []byte {
	a.t.Helper()
	reads, writes, err := os.Pipe()
	if err != nil {
		a.t.Fatal(err)
	}
	text := make(chan []byte, 1)
	go func() { all, _ := io.ReadAll(reads); text <- all }()
	status, err := a.exec(a.t.Context(), "host.h1", nil, writes, os.Stderr, argv...)
	writes.Close()
	written := <-text
	reads.Close()
	if err != nil || status != 0 {
		a.t.Errorf("%v: status %d, %v: %s", argv, status, err, written)
	}
	return written
}

// goodput is that of one honest run, in bit/s.
func (a *arena) goodput() float64 {
	a.t.Helper()
	text := a.output(a.tare, "send", "--to", a.address, "--token-file", a.token, "--workload", "tcp_stream", "--duration", each.String(), "--json")
	res, err := result.Read(bytes.NewReader(text))
	if err != nil {
		a.t.Fatalf("%v\n%s", err, a.log)
	}
	for _, m := range res.Cells[0].Metrics {
		if m.Name == "throughput" {
			return m.Value
		}
	}
	a.t.Fatalf("no throughput: %s\n%s", res.Cells[0].Reason, a.log)
	return 0
}

// storm storms the server for some time.
func (a *arena) storm(time time.Duration) (c counts) {
	own, err := os.Executable()
	if err != nil {
		a.t.Error(err)
		return c
	}
	if err := json.Unmarshal(a.output(own, "storm", a.address, time.String()), &c); err != nil {
		a.t.Error(err)
	}
	return c
}

// server is the server's process.
func (a *arena) server() int {
	a.t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		a.t.Fatal(err)
	}
	for _, path := range lines {
		text, err := os.ReadFile(path)
		if err == nil && bytes.Contains(text, []byte("\x00serve\x00")) && bytes.Contains(text, []byte(a.token)) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			return pid
		}
	}
	a.t.Fatal("the server has no process")
	return 0
}

// memory is what the server has resident, in bytes.
func (a *arena) memory() int {
	a.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", a.pid))
	if err != nil {
		a.t.Fatalf("%v\n%s", err, a.log)
	}
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) > 1 && words[0] == "VmRSS:" {
			kib, _ := strconv.Atoi(words[1])
			return kib << 10
		}
	}
	a.t.Fatal("the server has no memory")
	return 0
}
