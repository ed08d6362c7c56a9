package iperf3

import (
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"tare/traffic"
	"tare/traffic/udp"
)

// flow is one data flow at one end.
type flow struct {
	id            int // iperf3's number
	sends         bool
	socket        int
	local, remote netip.AddrPort

	count    counters
	arrivals udp.Arrivals // of a UDP receiver
	skipped  int64        // of a paced sender: blocks given up; valid once it has ended
	drops    int64        // of a UDP sender: datagrams that this machine refused; likewise
}

// counters are a flow's running totals. Only its thread writes them.
type counters struct {
	_          [64]byte
	bytes      atomic.Int64
	datagrams  atomic.Int64 // sent, or the highest number received
	lost       atomic.Int64 // missing below the highest number; never falls
	duplicates atomic.Int64
	reordered  atomic.Int64
	jitter     atomic.Int64 // nanoseconds
	_          [64]byte
}

// transfer is the data part of a test at one end: a thread for each flow.
// Others start it, read its counters, and end it.
type transfer struct {
	p       parameters
	flows   []*flow
	payload []byte
	omit    time.Duration

	limited bool         // the test ends after so many bytes
	left    atomic.Int64 // of them
	spent   chan struct{}
	spend   sync.Once

	base    time.Time
	cpu     usage       // at the start
	resting atomic.Bool // the test is over: senders stop, and a peer may close
	over    atomic.Bool // receivers stop
	sending atomic.Int32
	senders sync.WaitGroup
	threads sync.WaitGroup
	failure chan error // the first one
	watched readings
}

// newTransfer prepares a test on these flows. Without limited it goes on until
// it is ended, whatever the parameters ask for.
func newTransfer(p parameters, flows []*flow, limited bool) *transfer {
	t := &transfer{
		p: p, flows: flows, payload: traffic.RandomPayload(int(p.Len)), omit: time.Duration(p.Omit) * time.Second,
		limited: limited && (p.Num > 0 || p.BlockCount > 0),
		spent:   make(chan struct{}), failure: make(chan error, 1),
	}
	t.left.Store(int64(p.Num))
	if p.Num == 0 {
		t.left.Store(int64(min(p.BlockCount, 1<<40) * p.Len))
	}
	for _, f := range flows {
		if f.sends {
			t.sending.Add(1)
			t.senders.Add(1)
		} else if p.UDP {
			f.arrivals = udp.NewArrivals()
		}
	}
	// A data thread keeps its processor while it is in the kernel.
	if want := traffic.Processors(len(flows)); want > runtime.GOMAXPROCS(0) {
		runtime.GOMAXPROCS(want)
	}
	return t
}

// now is the time since the test's start.
func (t *transfer) now() time.Duration { return time.Since(t.base) }

// start sets the data threads going.
func (t *transfer) start() error {
	cpu, err := processUsage()
	if err != nil {
		return err
	}
	t.cpu, t.base = cpu, time.Now()
	if err := t.readAt(0, t.omit == 0); err != nil {
		return err
	}
	for _, f := range t.flows {
		t.threads.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			err := t.work(f)
			if err != nil {
				select {
				case t.failure <- err:
				default:
				}
			}
			if f.sends {
				t.sent(err == nil)
			}
		})
	}
	return nil
}

func (t *transfer) work(f *flow) error {
	udp := bool(t.p.UDP)
	switch {
	case f.sends && udp:
		return t.sendDatagrams(f)
	case f.sends:
		return t.sendStream(f)
	case udp:
		return t.receiveDatagrams(f)
	}
	return t.receiveStream(f)
}

// sent notes that one more sender has ended; well, if nothing is left to send.
func (t *transfer) sent(well bool) {
	defer t.senders.Done()
	if well && t.sending.Add(-1) == 0 && t.limited {
		t.spend.Do(func() { close(t.spent) })
	}
}

// allot returns the size of the next block to send; zero: nothing is left. Only
// whole datagrams are sent.
func (t *transfer) allot() int {
	size := int64(t.p.Len)
	if !t.limited || t.now() < t.omit {
		return int(size)
	}
	left := t.left.Add(-size) + size
	switch {
	case left <= 0:
		return 0
	case bool(t.p.UDP):
		return int(size)
	}
	return int(min(left, size))
}

// arrived charges what was received to a test of so many bytes, which both a
// full count of bytes sent and one of bytes received end.
func (t *transfer) arrived(n int) {
	if t.limited && t.sending.Load() == 0 && t.now() >= t.omit && t.left.Add(int64(-n)) <= 0 {
		t.spend.Do(func() { close(t.spent) })
	}
}

// await waits until the next block of a schedule is due; false: the test is
// over.
func (t *transfer) await(s *pace) bool {
	for !t.resting.Load() {
		wait := s.next(t.now())
		if wait == 0 {
			return true
		}
		if wait > shortest {
			traffic.Sleep(wait)
		}
	}
	return false
}

// rest ends the test: it waits until the senders have stopped, and takes the
// last reading. What a peer has received is then in it, even where this end's
// thread had not counted it when the peer reported it.
func (t *transfer) rest() error {
	at := t.now()
	t.resting.Store(true)
	t.senders.Wait()
	return t.readAt(at, false)
}

// closeSenders ends the TCP flows from here. An iperf3 client reads whole
// blocks, and would wait for the rest of the last one.
func (t *transfer) closeSenders() error {
	for _, f := range t.flows {
		if bool(t.p.UDP) || !f.sends {
			continue
		}
		err := unix.Shutdown(f.socket, unix.SHUT_WR)
		if err != nil && !errors.Is(err, unix.ENOTCONN) { // the client was faster
			return fmt.Errorf("end flow %d: %w", f.id, err)
		}
	}
	return nil
}

// stop ends what receivers still do, and waits for all threads.
func (t *transfer) stop() {
	t.resting.Store(true)
	t.over.Store(true)
	t.threads.Wait()
}

// moved is what has passed on all flows so far; what waits in a sender's
// buffer has not. A test whose flows all receive, or send over TCP, has come to
// a halt when it stays the same.
func (t *transfer) moved() (sum int64) {
	for _, f := range t.flows {
		sum += f.count.bytes.Load()
	}
	return sum - int64(t.queued())
}

// drain lets receivers take what is still on its way, until all have all
// that the peer sent, or nothing has come for so long. have reports whether a
// receiving flow has all. What waits here until its thread gets a CPU has come.
func (t *transfer) drain(have func(f *flow) bool, quiet time.Duration) {
	const most = 2 * time.Second
	began, last, since := t.now(), t.moved(), t.now()
	for now := began; now-since < quiet && now-began < most; now = t.now() {
		complete := true
		for _, f := range t.flows {
			complete = complete && (f.sends || have(f))
		}
		if complete {
			return
		}
		time.Sleep(time.Millisecond)
		if moved := t.moved(); moved != last || t.unread() {
			last, since = moved, t.now()
		}
	}
}

// unread reports whether a receiving flow's socket holds data (SIOCINQ).
func (t *transfer) unread() bool {
	for _, f := range t.flows {
		if f.sends {
			continue
		}
		if n, err := unix.IoctlGetInt(f.socket, unix.SIOCINQ); err == nil && n > 0 {
			return true
		}
	}
	return false
}

// queued returns how many bytes of the sending TCP flows the peer has not
// acknowledged yet (SIOCOUTQ).
func (t *transfer) queued() (sum int) {
	for _, f := range t.flows {
		if bool(t.p.UDP) || !f.sends {
			continue
		}
		if n, err := unix.IoctlGetInt(f.socket, unix.SIOCOUTQ); err == nil {
			sum += n
		}
	}
	return sum
}
