package traffic

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"tare/test/labtest"
)

// Whatever the order in which threads read and count, a window of bytes ends with the read
// that brings the last, and that of each other flow with its next read.
func TestBytesEndTheWindowWithTheNextReadOfEachFlow(t *testing.T) {
	const read = 100
	r := startRun(t.Context())
	defer r.end()
	rapid.Check(t, func(t *rapid.T) {
		fds := make([]int, rapid.IntRange(1, 4).Draw(t, "flows"))
		s := TCPStream{Window: Window{Duration: time.Hour}, Bytes: rapid.Int64Range(1, 5000).Draw(t, "bytes"), ReadBytes: read}
		w := newStreamReceiver(r, fds, s)
		for range 2 { // the windows open when all have passed something
			for _, f := range w.flows {
				if f.meter.phase != open {
					f.count(event{at: 1, n: 1})
				}
			}
		}
		last, counted := make([]time.Duration, len(fds)), int64(0)
		for now, left := time.Duration(2), len(fds); left > 0; now++ {
			i := rapid.IntRange(0, len(fds)-1).Draw(t, "flow")
			f := w.flows[i]
			if f.meter.phase == closed {
				continue
			}
			n := rapid.Int64Range(1, read).Draw(t, "bytes of a read")
			// It counts now what it read when another thread had not counted what is counted already.
			last[i] = now - time.Duration(rapid.Int64Range(0, int64(now-last[i])-1).Draw(t, "how long ago"))
			f.count(event{last[i], n, n == read})
			counted += n
			labtest.Equal(t, "closed", f.meter.phase == closed, counted >= s.Bytes)
			if f.meter.phase == closed {
				left--
			}
		}
		var got int64
		for _, m := range w.meters {
			got += m.counted
			labtest.AtLeast(t, "window", m.elapsed(), 0)
		}
		labtest.Equal(t, "counted", got, counted)
		labtest.Between(t, "bytes", got, s.Bytes, s.Bytes+int64(len(fds))*read-1)
	})
}

// A flow that was given up before it was empty is counted once, whatever still arrives on it.
func TestFlowsAreDoneOnce(t *testing.T) {
	r := startRun(t.Context())
	defer r.end()
	var fds, senders []int
	for range 2 {
		ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		try(t, err)
		defer closeSockets(ends[:])
		fds, senders = append(fds, ends[0]), append(senders, ends[1])
	}
	w := newStreamReceiver(r, fds, TCPStream{Window: shortWindow, ReadBytes: 10})
	for _, f := range w.flows {
		f.draining = true
	}
	w.flows[0].limit = -1
	set, err := openFlowSet(w.flows)
	try(t, err)
	defer closeSocket(set.fd)
	try(t, set.turn(w.flows[0], 0, unix.EAGAIN))
	labtest.Equal(t, "flows left", set.left, 1)
	labtest.Equal(t, "undrained", w.flows[0].undrained, true)
	_, err = unix.Write(senders[0], []byte("more"))
	try(t, err)
	ready, err := set.wait(true)
	try(t, err)
	labtest.Equal(t, "flows that wake the thread", len(ready), 0)
}
