package probe

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"tare/result"
)

const vm = "testdata/vm" // a captured root: a small virtual machine of two CPUs

func TestParseCPU(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       CPU
	}{
		{"guest time is user time already",
			"cpu  100 200 300 400 500 600 700 800 90 150\nintr 1\n",
			CPU{CPUTimes: CPUTimes{Busy: 27, Softirq: 7, Steal: 8, Idle: 9, Total: 36}}},
		{"CPU 1 is offline",
			"cpu 0 0 100 0 0 0 0 0\ncpu0 0 0 40 0 0 0 0 0\ncpu2 0 0 60 0 0 0 0 0\n",
			CPU{CPUTimes{Busy: 1, Total: 1}, []CPUTimes{{Busy: 0.4, Total: 0.4}, {}, {Busy: 0.6, Total: 0.6}}}},
	} {
		got, err := parseCPU([]byte(test.text))
		if err != nil || !sameCPU(got, test.want) {
			t.Errorf("%s: %+v, %v, want %+v", test.name, got, err, test.want)
		}
	}
}

func TestParseCPURefuses(t *testing.T) {
	for _, text := range []string{
		"",
		"intr 1 2 3\n",
		"cpu0 1 2 3 4 5 6 7 8\n", // no line for the whole
		"cpu 1 2 3 4 5 6 7\n",    // no steal
		"cpu 1 2 3 4 5 6 7 x\n",
		"cpu 1 2 3 4 5 6 7 -8\n",
		"cpu 1 2 3 4 5 6 7 99999999999999999999\n",
		"cpu 1 2 3 4 5 6 7 8\ncpu8192 1 2 3 4 5 6 7 8\n",
		"cpu 1 2 3 4 5 6 7 8\ncpufreq 1 2 3 4 5 6 7 8\n",
	} {
		if got, err := parseCPU([]byte(text)); err == nil {
			t.Errorf("%q gave %+v", text, got)
		}
	}
}

func TestCapturedCPU(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(vm, "proc/stat"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := parseCPU(data)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Each) != 2 {
		t.Fatalf("%d CPUs, want 2", len(got.Each))
	}
	// The kernel rounds each column of each line down to a tick.
	sum := got.Each[0].Total + got.Each[1].Total
	if difference := got.Total - sum; math.Abs(float64(difference)) > 0.2 {
		t.Errorf("CPUs sum to %v s, the whole is %v s", sum, got.Total)
	}
}

func TestParseCPUProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		columns := rapid.SliceOfN(rapid.Uint64Range(0, 1<<40), 10, 10)
		earlier, later := columns.Draw(t, "earlier"), columns.Draw(t, "more")
		for n := range later {
			later[n] += earlier[n]
		}
		spent := parse(t, line10(later)).Since(parse(t, line10(earlier)))
		idled := later[idle] + later[iowait] - earlier[idle] - earlier[iowait]
		var all uint64
		for n := range user + 8 {
			all += later[n] - earlier[n]
		}
		near(t, "idle", spent.Idle, idled)
		near(t, "busy", spent.Busy, all-idled)
		near(t, "total", spent.Total, all)
		near(t, "softirq", spent.Softirq, later[softirq]-earlier[softirq])
		near(t, "steal", spent.Steal, later[steal]-earlier[steal])
	})
}

func line10(columns []uint64) string {
	return "cpu  " + strings.Trim(fmt.Sprint(columns), "[]") + "\n"
}

func parse(t *rapid.T, text string) CPU {
	c, err := parseCPU([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// near compares seconds with ticks, to the rounding of a float.
func near(t *rapid.T, what string, got result.Seconds, ticks uint64) {
	if want := float64(ticks) / 100; math.Abs(float64(got)-want) > 1e-3 {
		t.Fatalf("%s: %v s, want %v s", what, got, want)
	}
}

func TestSinceLeavesOutCPUsThatWereOffline(t *testing.T) {
	on := func(total result.Seconds) CPUTimes { return CPUTimes{Busy: total, Total: total} }
	earlier := CPU{on(30), []CPUTimes{on(10), {}, on(10)}}
	later := CPU{on(33), []CPUTimes{on(12), on(500), {}, on(500)}}
	want := CPU{on(3), []CPUTimes{on(2), {}, {}, {}}}
	if got := later.Since(earlier); !sameCPU(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if len(earlier.Since(later).Each) != 3 {
		t.Error("a CPU that went offline changed the list")
	}
}

func TestUsedSinceIsWhatCPUsDidNotIdle(t *testing.T) {
	at := func(idle, steal, busy result.Seconds) CPU {
		online := CPUTimes{Total: 1}
		return CPU{CPUTimes{Idle: idle, Steal: steal, Busy: busy}, []CPUTimes{online, {}, online}}
	}
	earlier, later := at(10, 1, 100), at(10.5, 1.25, 100.01)
	busy, steal := later.UsedSince(&earlier, 0.5)
	if busy != 0.25 || steal != 0.25 {
		t.Errorf("two CPUs idled 0.5 s and missed 0.25 s of 0.5 s each: busy %v s, stolen %v s", busy, steal)
	}
}

func TestCPUReaderAllocatesNothing(t *testing.T) {
	for _, root := range []string{"/", vm} {
		reader, err := OpenCPU(root)
		if err != nil {
			t.Fatal(err)
		}
		var c CPU
		allocs := testing.AllocsPerRun(100, func() {
			if err := reader.Read(&c); err != nil {
				t.Error(err)
			}
		})
		if allocs != 0 {
			t.Errorf("%s: %v allocations a read", root, allocs)
		}
		if err := reader.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestCPUReaderSeesALongFileWhole(t *testing.T) {
	var text strings.Builder
	text.WriteString("cpu 1 2 3 4 5 6 7 8\n")
	const cpus = 1000 // more than the first buffer holds
	for n := range cpus {
		fmt.Fprintf(&text, "cpu%d 1 2 3 4 5 6 7 8\n", n)
	}
	reader, err := OpenCPU(tree(t, map[string]string{"proc/stat": text.String()}))
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	var c CPU
	if err := reader.Read(&c); err != nil {
		t.Fatal(err)
	}
	if len(c.Each) != cpus || c.Each[cpus-1].Total != 0.36 {
		t.Errorf("%d CPUs", len(c.Each))
	}
}

func TestOpenCPUFailsEarly(t *testing.T) {
	for name, root := range map[string]string{
		"no file": t.TempDir(),
		"garbage": tree(t, map[string]string{"proc/stat": "garbage\n"}),
	} {
		if _, err := OpenCPU(root); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestLabBusyTimeIsSeen uses CPU time and finds it in the machine's.
func TestLabBusyTimeIsSeen(t *testing.T) {
	reader, err := OpenCPU("/")
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	var before, after CPU
	if err := reader.Read(&before); err != nil {
		t.Fatal(err)
	}
	const burnt = 200 * time.Millisecond
	for start := ownCPU(t); ownCPU(t)-start < burnt; {
	}
	if err := reader.Read(&after); err != nil {
		t.Fatal(err)
	}
	spent := after.Since(before)
	if spent.Busy < 0.1 { // half: the kernel samples at its ticks
		t.Errorf("burnt %v of CPU, seen %v s", burnt, spent.Busy)
	}
	if spent.Softirq+spent.Steal > spent.Busy {
		t.Errorf("softirq %v and steal %v are more than busy %v", spent.Softirq, spent.Steal, spent.Busy)
	}
}

func ownCPU(t *testing.T) time.Duration {
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func FuzzParseCPU(f *testing.F) {
	captured(f, "proc/stat")
	f.Add([]byte("cpu 1 2 3 4 5 6 7 8 9 10\ncpu7 1 2 3 4 5 6 7 8\n"))
	f.Add([]byte("cpu 18446744073709551615 0 0 18446744073709551615 0 0 1 1\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := parseCPU(data)
		if err != nil {
			return
		}
		if len(c.Each) > maxCPUs {
			t.Fatalf("%d CPUs", len(c.Each))
		}
		for _, times := range append(c.Each, c.CPUTimes) {
			if times.Busy < max(times.Softirq, times.Steal) || times.Total != times.Busy+times.Idle || times.Idle < 0 {
				t.Fatalf("%+v", times)
			}
		}
	})
}

func BenchmarkCPURead(b *testing.B) {
	reader, err := OpenCPU("/")
	if err != nil {
		b.Fatal(err)
	}
	defer reader.Close()
	b.ReportAllocs()
	var c CPU
	for b.Loop() {
		if err := reader.Read(&c); err != nil {
			b.Fatal(err)
		}
	}
}

func sameCPU(a, b CPU) bool {
	same := sameTimes(a.CPUTimes, b.CPUTimes) && len(a.Each) == len(b.Each)
	for n := 0; same && n < len(a.Each); n++ {
		same = sameTimes(a.Each[n], b.Each[n])
	}
	return same
}

func sameTimes(a, b CPUTimes) bool {
	close := func(x, y result.Seconds) bool { return math.Abs(float64(x-y)) < 1e-9 }
	return close(a.Busy, b.Busy) && close(a.Softirq, b.Softirq) && close(a.Steal, b.Steal) &&
		close(a.Idle, b.Idle) && close(a.Total, b.Total)
}

// captured adds a captured file to the seeds.
func captured(f *testing.F, path string) {
	data, err := os.ReadFile(filepath.Join(vm, path))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
}

// tree writes files below a new root.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for path, text := range files {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}
