package trace_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tare/result"
	"tare/test/labtest"
	"tare/trace"
)

const port = 5210

// within runs f on a thread in its own network namespace, whose loopback
// is up. The thread ends with it, and the namespace with the thread.
func within(t *testing.T, f func(trace.Network)) {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		done <- func() error {
			if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
				return err
			}
			if err := exec.Command("ip", "link", "set", "lo", "up").Run(); err != nil {
				return err
			}
			var stat unix.Stat_t
			if err := unix.Stat("/proc/thread-self/ns/net", &stat); err != nil {
				return err
			}
			f(trace.Network{Inode: uint32(stat.Ino), At: "h1", Devices: map[uint32]trace.Device{1: {Name: "lo", Kind: "device"}}})
			return nil
		}()
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T) *trace.Tracer {
	t.Helper()
	tracer, err := trace.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tracer.Close(); err != nil {
			t.Error(err)
		}
	})
	if tracer.Tier != trace.Stacks {
		t.Fatalf("tier %d, want %d: %v", tracer.Tier, trace.Stacks, tracer.Lacks)
	}
	return tracer
}

// socket is a bare one of UDP, as those of the engine: it blocks its thread.
func socket(t *testing.T) int {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Error(err)
	}
	return fd
}

// patience is how long a datagram is waited for, in s. It can be lost: all
// namespaces share the backlog of a CPU.
const patience = 60

// pair is a server's socket on the port and a client's connected to it.
func pair(t *testing.T, port int) (server, client int) {
	at := &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}
	server, client = socket(t), socket(t)
	if err := unix.Bind(server, at); err != nil {
		t.Error(err)
	}
	if err := unix.Connect(client, at); err != nil {
		t.Error(err)
	}
	for _, fd := range []int{server, client} {
		if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: patience}); err != nil {
			t.Error(err)
		}
	}
	return server, client
}

// onOneCPU keeps the calling thread, which ends with the test, on one of its CPUs.
func onOneCPU(t *testing.T) {
	var may, one unix.CPUSet
	err := unix.SchedGetaffinity(0, &may)
	for cpu := 0; err == nil && one.Count() == 0; cpu++ {
		if may.IsSet(cpu) {
			one.Set(cpu)
			err = unix.SchedSetaffinity(0, &one)
		}
	}
	if err != nil {
		t.Error(err)
	}
}

// read reads a datagram. Any signal interrupts a socket that has a timeout, and
// Go's scheduler sends some.
func read(socket int, message []byte) (length int, from unix.Sockaddr, err error) {
	for {
		length, from, err = unix.Recvfrom(socket, message, 0)
		if !errors.Is(err, unix.EINTR) {
			return length, from, err
		}
	}
}

// answer sends so many datagrams back to whom they are from.
func answer(server, count int) error {
	message := make([]byte, 64)
	for n := range count {
		length, from, err := read(server, message)
		if err == nil {
			err = unix.Sendto(server, message[:length], 0, from)
		}
		if err != nil {
			return fmt.Errorf("answer datagram %d: %w", n, err)
		}
	}
	return nil
}

// ask sends so many datagrams, each when the one before was answered.
func ask(client, count int) error {
	message := make([]byte, 64)
	for n := range count {
		_, err := unix.Write(client, message)
		if err == nil {
			_, _, err = read(client, message)
		}
		if err != nil {
			return fmt.Errorf("ask datagram %d: %w", n, err)
		}
	}
	return nil
}

// roundTrips exchanges datagrams between two threads of this one's namespace.
func roundTrips(t *testing.T, count int) {
	server, client := pair(t, port)
	defer unix.Close(server)
	defer unix.Close(client)
	here, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		t.Error(err)
		return
	}
	defer here.Close()
	answered := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // for good: the thread is in the namespace
		err := unix.Setns(int(here.Fd()), unix.CLONE_NEWNET)
		answered <- errors.Join(err, answer(server, count))
	}()
	if err := errors.Join(ask(client, count), <-answered); err != nil {
		t.Error(err)
	}
}

// TestLabTracer opens one tracer, which takes seconds, for all that it sees.
func TestLabTracer(t *testing.T) {
	tracer := open(t)
	for _, c := range []struct {
		about string
		test  func(*testing.T, *trace.Tracer)
	}{
		{"hops of the loopback", hopsOfTheLoopback},
		{"others are not followed", othersAreNotFollowed},
		{"a profile sees the lab", profileSeesTheLab},
		{"the ledger balances to the packet", ledgerBalancesToThePacket},
		{"the ledger leaves out other packets", ledgerLeavesOutOtherPackets},
	} {
		t.Run(c.about, func(t *testing.T) { c.test(t, tracer) })
	}
}

func hopsOfTheLoopback(t *testing.T, tracer *trace.Tracer) {
	const rounds = 8000
	within(t, func(n trace.Network) {
		pass := trace.Pass{Networks: []trace.Network{n}, Port: port, Rounds: true, Closed: true}
		path, err := tracer.Follow(pass, func() error {
			roundTrips(t, rounds)
			return nil
		})
		if err != nil {
			t.Error(err)
			return
		}
		hops, whole := trace.Hops(path)
		want := []string{"application", "send", "queue", "loopback", "backlog", "receive", "wake-up"}
		if len(hops) < 2*len(want) {
			t.Errorf("hops %+v", hops)
			return
		}
		for i, hop := range hops[:2*len(want)] {
			direction := []string{trace.Request, trace.Response}[i/len(want)]
			if hop.Name != want[i%len(want)] || hop.Direction != direction || hop.At != "h1" {
				t.Errorf("hop %d is %+v, want %s of the %s at h1", i, hop, want[i%len(want)], direction)
			}
			of := hop.Direction + " " + hop.Name
			labtest.MoreThan(t, of+": P50", hop.P50, 0)
			labtest.AtLeast(t, of+": P99", hop.P99, hop.P50)
			labtest.Between(t, of+": visits", hop.Visits, 0.9, 1.1)
		}
		if whole.Ways < rounds/16 || whole.Sum < 0.999*whole.Mean || whole.Sum > 1.001*whole.Mean {
			t.Errorf("of %d rounds %+v", rounds, whole)
		}
		if len(path.Lost) > 0 {
			t.Errorf("lost %v", path.Lost)
		}
	})
}

// Packets of another port are not followed, and neither are those of a
// namespace that was not named.
func othersAreNotFollowed(t *testing.T, tracer *trace.Tracer) {
	within(t, func(n trace.Network) {
		for about, pass := range map[string]trace.Pass{
			"another port":      {Networks: []trace.Network{n}, Port: port + 1},
			"another namespace": {Networks: []trace.Network{{Inode: 1}}, Port: port},
		} {
			path, err := tracer.Follow(pass, func() error {
				roundTrips(t, 100)
				return nil
			})
			if err != nil {
				t.Errorf("%s: %v", about, err)
			}
			labtest.Equal(t, about+": packets begun", path.Began, 0)
			labtest.Equal(t, about+": legs", len(path.Legs), 0)
			labtest.Equal(t, about+": losses", len(path.Lost), 0)
		}
	})
}

// used is the CPU time that this process has used.
func used(t *testing.T) time.Duration {
	var all unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &all); err != nil {
		t.Error(err)
	}
	return time.Duration(all.Utime.Nano() + all.Stime.Nano())
}

func profileSeesTheLab(t *testing.T, tracer *trace.Tracer) {
	within(t, func(n trace.Network) {
		profile, err := tracer.Profile([]trace.Network{n}, func() error {
			for begun := used(t); used(t) < begun+300*time.Millisecond; { // whatever else the machine does
				roundTrips(t, 100)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
			return
		}
		use := trace.Use([]trace.Profile{profile})
		if use == nil || use.Samples < 50 || use.CPUs <= 0 {
			t.Errorf("use %+v", use)
			return
		}
		for about, shares := range map[string][]result.Share{"layers": use.Layers, "kinds": use.Kinds, "contexts": use.Contexts} {
			sum := 0.0
			for _, s := range shares {
				sum += s.Share
			}
			if sum < 0.999 || sum > 1.001 {
				t.Errorf("%s add up to %v: %+v", about, sum, shares)
			}
		}
	})
}

// No descriptor stays open: what was attached hangs on them alone.
func TestLabCloseLeavesNothing(t *testing.T) {
	count := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	before := count()
	tracer, err := trace.Open()
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0") // the runtime's own descriptors are open
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tracer.Follow(trace.Pass{Port: port}, func() error { return listener.Close() }); err != nil {
		t.Fatal(err)
	}
	if err := tracer.Close(); err != nil {
		t.Fatal(err)
	}
	if after := count(); after > before+2 {
		t.Errorf("%d descriptors, %d before", after, before)
	}
}
