package hostile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
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

	"tare/catalog"
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
	labmain.Run(m, "hostile", labmain.Verbs{"storm": storm, "listen": listen})
}

// What must hold.
const (
	leastGoodput = 0.95             // of that beside a storm of which the server has none
	mostCPU      = 0.25             // of a CPU, that the server takes in a storm without a run
	mostGrowth   = 32 << 20         // bytes of memory, in the storm
	comesBack    = 8 << 20          // that may stay afterwards
	settles      = 10 * time.Second // that the server has for that
	each         = time.Second
)

// listens is where a socket listens beside the server.
const listens = "10.0.0.2:5211"

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

// TestDeepStorm does honest runs without a storm, beside a storm of peers that have no token,
// and beside the same storm at a socket that only listens, in turn. That one costs the
// kernel and the sender's CPU as much, which the storm's process shares; so the ratio of the
// two is what tare serve itself loses.
func TestDeepStorm(t *testing.T) {
	a := open(t)
	a.goodput() // what the first run takes for good is not the storm's
	quiet := a.memory()
	most := quiet
	var own, whole []float64
	var all counts
	for n := range int(*span / each) {
		alone := a.goodput()
		var stormed, beside float64
		weigh := []func(){
			func() {
				var c counts
				stormed, c = a.stormed(a.address)
				all.add(c)
				most = max(most, a.memory())
			},
			func() {
				defer a.listen()()
				var c counts
				beside, c = a.stormed(listens)
				labtest.Equal(t, "connections that the socket refused", c.Refused, 0)
			},
		}
		if n%2 == 1 {
			slices.Reverse(weigh)
		}
		weigh[0]()
		weigh[1]()
		own, whole = append(own, stormed/beside), append(whole, stormed/alone)
	}
	cpu := a.cpu()
	a.storm(a.address, 4*each)
	idle := (a.cpu() - cpu).Seconds() / (4 * each).Seconds()
	after := a.memory()
	for limit := time.Now().Add(settles); after-quiet > comesBack && time.Now().Before(limit); <-time.After(each / 10) {
		after = a.memory()
	}
	t.Logf("%d connections, %d refused; %d bytes sent, %d received; memory %.1f MiB, %.1f at most, %.1f afterwards",
		all.Connections, all.Refused, all.Sent, all.Received, mib(quiet), mib(most), mib(after))
	t.Logf("the server took %.1f %% of a CPU in a storm without a run", 100*idle)
	t.Logf("the storm's process took %.1f %% of a CPU, which is the honest sender's", 100*all.CPU.Seconds()/(float64(len(own))*(each+time.Second).Seconds()))
	at, _ := location(whole)
	t.Logf("goodput is %.3f [%.3f, %.3f] of that without a storm", at.Value, at.Low, at.High)
	at, bounded := location(own)
	t.Logf("goodput is %.3f [%.3f, %.3f] of that beside the same storm at a socket that only listens", at.Value, at.Low, at.High)
	if all.Connections < int64(perSecond*span.Seconds()/2) {
		t.Errorf("the storm had only %d connections", all.Connections)
	}
	if bounded && at.High < leastGoodput || !bounded && at.Value < leastGoodput {
		t.Errorf("tare serve leaves %.3f [%.3f, %.3f] of the goodput in a storm", at.Value, at.Low, at.High)
	}
	labtest.AtMost(t, "of a CPU that the server takes in a storm", idle, mostCPU)
	labtest.AtMost(t, "bytes of memory in the storm, above those before", most-quiet, mostGrowth)
	labtest.AtMost(t, "bytes of memory afterwards, above those before", after-quiet, comesBack)
	labtest.Equal(t, "connections that received more than they had sent", all.Amplified, 0)
	a.goodput() // it serves as before
}

// location is the middle of ratios, and whether its interval is whole.
func location(ratios []float64) (stats.Interval, bool) {
	slices.Sort(ratios)
	return stats.Location(ratios, true)
}

// stormed is the goodput of an honest run while an address of the server's host is stormed.
func (a *arena) stormed(address string) (float64, counts) {
	done := make(chan counts, 1)
	go func() { done <- a.storm(address, each+time.Second) }()
	<-time.After(each / 5) // the storm has begun
	goodput := a.goodput()
	return goodput, <-done
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
	spec := site.Spec{CC: "cubic", Pin: catalog.PinApart, RPS: true, Clusters: []site.ClusterSpec{
		{Name: "host", Network: "host", Axes: result.Params{"nic": string(lab.NICFull), "mtu": 1500.0}, Hosts: 2, Containers: 1},
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
		case <-time.After(labtest.Generous):
			t.Error("the server has not ended")
		}
		writes.Close()
		reads.Close()
	})
	select {
	case <-up:
	case <-time.After(labtest.Generous):
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

// storm storms an address for some time.
func (a *arena) storm(address string, time time.Duration) (c counts) {
	own, err := os.Executable()
	if err != nil {
		a.t.Error(err)
		return c
	}
	if err := json.Unmarshal(a.output(own, "storm", address, time.String()), &c); err != nil {
		a.t.Error(err)
	}
	return c
}

// listen has a socket listen in the server's host. The function ends it.
func (a *arena) listen() func() {
	a.t.Helper()
	own, err := os.Executable()
	if err != nil {
		a.t.Fatal(err)
	}
	reads, writes, err := os.Pipe()
	if err != nil {
		a.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(a.t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, err = a.exec(ctx, "host.h2", nil, writes, os.Stderr, own, "listen", listens)
		writes.Close()
	}()
	ready := make([]byte, 1)
	if _, none := reads.Read(ready); none != nil {
		<-ended
		a.t.Fatalf("listen at %s: %v", listens, err)
	}
	return func() {
		cancel()
		<-ended
		reads.Close()
	}
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

// memory is what the server holds, in bytes: the pages of the program's file are left out, which
// the kernel takes back when it likes (proc_pid_status(5), RssAnon).
func (a *arena) memory() int {
	a.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", a.pid))
	if err != nil {
		a.t.Fatalf("%v\n%s", err, a.log)
	}
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) > 1 && words[0] == "RssAnon:" {
			kib, _ := strconv.Atoi(words[1])
			return kib << 10
		}
	}
	a.t.Fatal("the server has no memory")
	return 0
}

// cpu is the CPU time that the server has taken, in ticks of 10 ms (proc_pid_stat(5)).
func (a *arena) cpu() time.Duration {
	a.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", a.pid))
	if err != nil {
		a.t.Fatalf("%v\n%s", err, a.log)
	}
	words := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	user, errUser := strconv.Atoi(words[11])
	system, errSystem := strconv.Atoi(words[12])
	if err := errors.Join(errUser, errSystem); err != nil {
		a.t.Fatal(err)
	}
	return time.Duration(user+system) * 10 * time.Millisecond
}
