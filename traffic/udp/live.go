package udp

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"tare/traffic"
)

// generator sends the datagrams of one flow without a socket: the kernel runs a program
// that makes frames, again and again, and a device sends them (BPF_PROG_RUN with live
// frames, Linux 5.18: https://docs.kernel.org/bpf/bpf_prog_run.html).
//
// A call to the kernel lasts as long as the generator, since to begin and to end one takes
// tens of milliseconds. A thread makes it, and the plan says what to send and when. The
// thread keeps its CPU busy also while nothing is due.
type generator struct {
	*livePlan
	run      *traffic.Run
	memory   []byte // that the plan is in
	template []byte // what the kernel fills a frame with before the program does
	objects  objects
	call     liveCall
	stopped  atomic.Bool
	thread   atomic.Int64 // that makes the call
	ended    chan struct{}
	failure  error // of the call, once it has ended
}

// liveCall is union bpf_attr of BPF_PROG_TEST_RUN (linux/bpf.h).
type liveCall struct {
	program    uint32
	_          uint32 // retval
	sizeIn     uint32
	_          uint32 // data_size_out
	dataIn     uint64
	_          uint64 // data_out
	repeat     uint32
	_          uint32 // duration
	_, _       uint32 // ctx_size_in, ctx_size_out
	_, _       uint64 // ctx_in, ctx_out
	flags, cpu uint32
	batch      uint32
	_          uint32
}

const (
	progTestRun   = 10     // BPF_PROG_TEST_RUN
	runLiveFrames = 1 << 1 // BPF_F_TEST_XDP_LIVE_FRAMES
	// liveBatch is how many turns the program has before what it made leaves: as many as
	// the other end of a veth takes at once (NAPI_POLL_WEIGHT).
	liveBatch = 64
	liveTurns = 1 << 31 // of one call, some minutes
)

// load loads the program that sends f by a device, and begins to run it.
func (g *generator) load(device int, f frame) error {
	shared, err := g.objects.share("tare_plan", int(unsafe.Sizeof(livePlan{})))
	if err != nil {
		return err
	}
	devices, err := g.objects.made(ebpf.NewMap(&ebpf.MapSpec{Name: "tare_device", Type: ebpf.DevMap, KeySize: 4, ValueSize: 4, MaxEntries: 1}))
	if err != nil {
		return err
	}
	if err := devices.Put(uint32(0), uint32(device)); err != nil {
		return err
	}
	if g.memory, err = unix.Mmap(shared.FD(), 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
		return err
	}
	g.livePlan = (*livePlan)(unsafe.Pointer(&g.memory[0]))
	program, err := g.objects.program("tare_frames", ebpf.XDP, liveCode(shared, devices, f))
	if err != nil {
		return err
	}
	g.template = f.bytes
	g.call = liveCall{
		program: uint32(program.FD()), dataIn: uint64(uintptr(unsafe.Pointer(&g.template[0]))), sizeIn: uint32(len(g.template)),
		repeat: liveTurns, flags: runLiveFrames, batch: liveBatch,
	}
	g.ended = make(chan struct{})
	go g.work()
	return nil
}

// work makes the call until the generator is closed. The runtime knows that the thread is
// in the kernel, and sends it no signal, which would end the call.
func (g *generator) work() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(g.ended)
	g.thread.Store(int64(unix.Gettid()))
	for !g.stopped.Load() {
		_, _, errno := syscall.Syscall(unix.SYS_BPF, progTestRun, uintptr(unsafe.Pointer(&g.call)), unsafe.Sizeof(g.call))
		if errno != 0 && errno != unix.EINTR {
			g.failure = fmt.Errorf("run a program on live frames: %w", errno)
			return
		}
	}
}

// failed is why no more frames are made; nil: they are.
func (g *generator) failed() error {
	select {
	case <-g.ended:
		return g.failure
	default:
		return nil
	}
}

// begin lets the program send: h is the header of the first frame, and those of the others
// have rising sequences, at a rate in 1/s from now on; 0: as fast as they go.
func (g *generator) begin(h traffic.Header, rate float64) error {
	if err := g.pause(); err != nil {
		return err
	}
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		return fmt.Errorf("read the clock: %w", err)
	}
	g.word, g.start, g.due, g.step, g.late, g.skipped = h.Word(), uint64(now.Nano()), 0, 0, 0, 0
	if rate > 0 {
		g.step = uint64(float64(time.Second<<fractionBits) / rate)
	}
	atomic.StoreUint64(&g.open, 1)
	return nil
}

// pause lets the program send no more, and waits until what it made has left.
func (g *generator) pause() error {
	atomic.StoreUint64(&g.open, 0)
	from := atomic.LoadUint64(&g.turns)
	for limit := g.run.Now() + time.Second; atomic.LoadUint64(&g.turns) < from+2*liveBatch; {
		if err := g.failed(); err != nil {
			return err
		}
		if g.run.Now() > limit {
			return errors.New("run a program on live frames: the kernel did not run it for a second: see what else keeps this CPU busy (top)")
		}
		traffic.Sleep(shortest)
	}
	return nil
}

// made is the word of the next frame: the difference of two is how many frames were made
// between them.
func (g *generator) made() uint64 { return atomic.LoadUint64(&g.word) }

// scheduled is the time that the frames so far take in the plan, those that were given up
// included.
func (g *generator) scheduled() time.Duration { return time.Duration(g.due >> fractionBits) }

// close ends the call by a signal that does nothing else.
func (g *generator) close() error {
	for g.stopped.Store(true); g.ended != nil; {
		if thread := g.thread.Load(); thread != 0 {
			// It fails only where the thread has ended.
			_ = unix.Tgkill(os.Getpid(), int(thread), unix.SIGURG)
		}
		select {
		case <-g.ended:
			g.ended = nil
		case <-time.After(traffic.Tick):
		}
	}
	var err error
	if g.memory != nil {
		err = unix.Munmap(g.memory)
	}
	return errors.Join(err, g.objects.close())
}
