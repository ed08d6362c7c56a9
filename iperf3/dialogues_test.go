package iperf3

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tare/test/labtest"
)

// dialogue is one test that both ends of iperf3 ran, recorded below testdata/dialogues.
type dialogue struct {
	name       string
	client     []string // arguments of the real client
	server     []string // likewise
	ask        Test     // the same of our client; zero: it has no such test
	ends       string   // the end that is interrupted while data passes
	busy       bool     // another client's test is under way
	clientSays string   // words of our client's error; "": the test succeeds
	serverLogs string   // words of our server's line
}

const (
	kib      = 1 << 10
	wideFlag = "--udp-counters-64bit" // as our client always has it
)

// dialogues are all that are recorded. Little passes in each.
func dialogues() []dialogue {
	const tick = time.Millisecond // of a test whose end the client chooses
	return []dialogue{
		{name: "tcp", client: []string{"-n", "256K", "-l", "8K"},
			ask: Test{Bytes: 256 * kib, Size: 8 * kib}, serverLogs: "TCP, flows 1 from the client"},
		{name: "tcp-time", client: []string{"-t", "1", "-b", "4M", "-l", "8K"},
			ask: Test{Duration: tick, Rate: 4e6, Size: 8 * kib}, serverLogs: "TCP, flows 1 from the client"},
		{name: "tcp-flows", client: []string{"-n", "256K", "-l", "8K", "-P", "4"},
			ask: Test{Bytes: 256 * kib, Size: 8 * kib, Flows: 4}, serverLogs: "TCP, flows 4 from the client"},
		{name: "tcp-reverse", client: []string{"-n", "256K", "-l", "8K", "-R"},
			ask: Test{Bytes: 256 * kib, Size: 8 * kib, Reverse: true}, serverLogs: "TCP, flows 1 to the client"},
		{name: "tcp-both", client: []string{"-t", "1", "-b", "800K", "-l", "4K", "--bidir"},
			ask: Test{Duration: tick, Rate: 800e3, Size: 4 * kib, Bidir: true}, serverLogs: "TCP, flows 2 both ways"},
		{name: "tcp-window", client: []string{"-n", "64K", "-l", "8K", "-w", "256K", "-C", "reno"},
			ask: Test{Bytes: 64 * kib, Size: 8 * kib, Window: 256 * kib, CC: "reno"}, serverLogs: "TCP, flows 1 from the client"},
		{name: "tcp-options", client: []string{"-n", "64K", "-l", "8K", "-N", "-S", "8", "-Z", "-M", "1400", "-A", "0,0"},
			serverLogs: "not bound to CPU 0 as the client asked"},
		{name: "tcp-blocks", client: []string{"-k", "10", "-l", "1000"}, serverLogs: "TCP, flows 1 from the client"},
		{name: "tcp-omit", client: []string{"-t", "1", "-O", "1", "-b", "800K", "-l", "4K"}, serverLogs: "TCP, flows 1 from the client"},
		{name: "udp-32bit", client: []string{"-u", "-n", "64000", "-l", "1000", "-b", "4M"},
			serverLogs: "lost 0 of 64, 0 duplicates, 0 reordered"},
		{name: "udp", client: []string{"-u", "-n", "64000", "-l", "1000", "-b", "4M", wideFlag},
			ask: Test{UDP: true, Bytes: 64000, Size: 1000, Rate: 4e6}, serverLogs: "lost 0 of 64, 0 duplicates, 0 reordered"},
		{name: "udp-reverse", client: []string{"-u", "-n", "64000", "-l", "1000", "-b", "4M", "-R", "-P", "2", wideFlag},
			ask: Test{UDP: true, Bytes: 64000, Size: 1000, Rate: 4e6, Reverse: true, Flows: 2}, serverLogs: "UDP, flows 2 to the client"},
		{name: "udp-both", client: []string{"-u", "-t", "1", "-l", "1000", "-b", "200K", "--bidir", wideFlag},
			ask: Test{UDP: true, Duration: tick, Size: 1000, Rate: 200e3, Bidir: true}, serverLogs: "UDP, flows 2 both ways"},
		{name: "server-output", client: []string{"-n", "64K", "-l", "8K", "--get-server-output"}, serverLogs: "TCP, flows 1 from the client"},
		{name: "limit", client: []string{"-t", "1", "-b", "10M"}, server: []string{"--server-bitrate-limit", "1M"},
			ask: Test{Duration: tick, Rate: 10e6}, clientSays: "the peer closed the control connection"},
		{name: "sctp", client: []string{"-n", "64K", "--sctp"}, serverLogs: "SCTP is not supported here",
			ask: Test{Bytes: 64 * kib}, clientSays: "iperf3's error 202 (it could not listen for the flows): protocol not supported"},
		{name: "busy", client: []string{"-n", "64K"}, busy: true,
			ask: Test{Bytes: 64 * kib}, clientSays: "busy with another test: try again", serverLogs: "a test is under way"},
		{name: "server-ends", client: []string{"-t", "60", "-b", "1M", "-l", "1000"}, ends: "server",
			ask: Test{Duration: time.Minute, Rate: 1e6, Size: 1000}, clientSays: "the server was ended: start it again", serverLogs: "the test was ended with the server"},
		{name: "client-ends", client: []string{"-t", "60", "-b", "1M", "-l", "1000"}, ends: "client", serverLogs: "the client was ended after"},
	}
}

// asks reports whether our client has the same test.
func (d dialogue) asks() bool { return d.ask.Bytes > 0 || d.ask.Duration > 0 }

// succeeds reports whether it does with our client.
func (d dialogue) succeeds() bool { return d.asks() && d.clientSays == "" }

// TestRealDialogues records all dialogues once more and compares with those that are
// kept: the ends of the iperf3 of this machine say the same. To keep what they say:
//
//	go test ./iperf3 -run TestRealDialogues -update
func TestRealDialogues(t *testing.T) {
	version := realVersion(t)
	for _, d := range dialogues() {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			said := d.record(t)
			if *update {
				writeDialogue(t, d.name, fmt.Sprintf("%s: -s %s; -c %s", version, strings.Join(d.server, " "), strings.Join(d.client, " ")), said)
				return
			}
			if text, err := os.ReadFile(dialoguePath(d.name)); err == nil && !strings.HasPrefix(string(text), "# "+version+":") {
				t.Logf("%s %s is not the one that was recorded", labtest.NotTested, version)
				return
			}
			if got, want := shape(said), shape(readDialogue(t, d.name)); !slices.Equal(got, want) {
				t.Errorf("iperf3 says\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// realVersion is what the real one calls itself: "iperf 3.12".
func realVersion(t testing.TB) string {
	t.Helper()
	out, err := exec.Command(realIperf3(t), "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	name, _, _ := strings.Cut(string(out), " (")
	return name
}

// record runs both real ends.
func (d dialogue) record(t *testing.T) []message {
	to, server := startRealServer(t, nil, d.server...)
	t.Cleanup(func() { _ = server.Wait() }) // by then it is killed
	if d.busy {
		other := newRecorder(t, to)
		first := startRealClient(t, other, nil, "-t", "60", "-b", "1M")
		t.Cleanup(func() { _ = first.Wait() })
		other.awaitRunning()
	}
	r := newRecorder(t, to)
	var printed bytes.Buffer
	client := startRealClient(t, r, &printed, append(d.client, "-J")...)
	ends := map[string]*exec.Cmd{"client": client, "server": server}
	if d.ends != "" {
		r.awaitRunning()
		if err := ends[d.ends].Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
	}
	if err := client.Wait(); err != nil && d.ends == "" {
		t.Errorf("the client: %v: %s", err, printed.Bytes())
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, printed.Bytes()); err != nil {
		t.Fatalf("%v in %q", err, printed.Bytes())
	}
	said := r.all()
	if d.succeeds() {
		machine := regexp.MustCompile(`"system_info":"[^"]*"`)
		said = append(said, message{"client", prints, machine.ReplaceAllString(compact.String(), `"system_info":"Linux"`)})
	}
	return said
}

func startRealClient(t *testing.T, r *recorder, out io.Writer, args ...string) *exec.Cmd {
	t.Helper()
	args = append([]string{"-c", r.at.Addr().String(), "-p", strconv.Itoa(int(r.at.Port()))}, args...)
	client := exec.CommandContext(t.Context(), realIperf3(t), args...)
	client.Stdout = out
	if err := client.Start(); err != nil {
		t.Fatal(err)
	}
	return client
}

// keys are those of a JSON object, and of what its lists hold.
func keys(text string) []string {
	var object map[string]any
	if err := json.Unmarshal([]byte(text), &object); err != nil {
		return []string{err.Error()}
	}
	all := slices.Sorted(maps.Keys(object))
	for _, value := range object {
		list, _ := value.([]any)
		for _, one := range list {
			of, _ := one.(map[string]any)
			all = append(all, fmt.Sprint(slices.Sorted(maps.Keys(of))))
		}
	}
	return all
}
