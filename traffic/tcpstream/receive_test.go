package tcpstream

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"tare/test/labtest"
	"tare/test/traffictest"
	"tare/traffic"
)

// Whatever the order in which threads read and count, a window of bytes ends with the read
// that brings the last, and that of each other flow with its next read.
func TestBytesEndTheWindowWithTheNextReadOfEachFlow(t *testing.T) {
	const read = 100
	r := traffic.StartRun(t.Context())
	defer r.End()
	rapid.Check(t, func(t *rapid.T) {
		fds := make([]int, rapid.IntRange(1, 4).Draw(t, "flows"))
		s := Options{Window: traffic.Window{Duration: time.Hour}, Bytes: rapid.Int64Range(1, 5000).Draw(t, "bytes"), ReadBytes: read}
		w := newStreamReceiver(r, fds, s)
		for range 2 { // the windows open when all have passed something
			for _, f := range w.flows {
				if f.meter.Phase() != traffic.Open {
					f.count(traffic.Event{At: 1, N: 1})
				}
			}
		}
		last, counted := make([]time.Duration, len(fds)), int64(0)
		for now, left := time.Duration(2), len(fds); left > 0; now++ {
			i := rapid.IntRange(0, len(fds)-1).Draw(t, "flow")
			f := w.flows[i]
			if f.meter.Phase() == traffic.Closed {
				continue
			}
			n := rapid.Int64Range(1, read).Draw(t, "bytes of a read")
			// It counts now what it read when another thread had not counted what is counted already.
			last[i] = now - time.Duration(rapid.Int64Range(0, int64(now-last[i])-1).Draw(t, "how long ago"))
			f.count(traffic.Event{At: last[i], N: n, More: n == read})
			counted += n
			labtest.Equal(t, "closed", f.meter.Phase() == traffic.Closed, counted >= s.Bytes)
			if f.meter.Phase() == traffic.Closed {
				left--
			}
		}
		var got int64
		for _, m := range w.meters {
			got += m.Counted()
			labtest.AtLeast(t, "window", m.Elapsed(), 0)
		}
		labtest.Equal(t, "counted", got, counted)
		labtest.Between(t, "bytes", got, s.Bytes, s.Bytes+int64(len(fds))*read-1)
	})
}

// A flow that was given up before it was empty is counted once, whatever still arrives on it.
func TestFlowsAreDoneOnce(t *testing.T) {
	r := traffic.StartRun(t.Context())
	defer r.End()
	var fds, senders []int
	for range 2 {
		ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		traffictest.Try(t, err)
		defer traffic.CloseSockets(ends[:])
		fds, senders = append(fds, ends[0]), append(senders, ends[1])
	}
	w := newStreamReceiver(r, fds, Options{Window: traffictest.ShortWindow, ReadBytes: 10})
	for _, f := range w.flows {
		f.draining = true
	}
	w.flows[0].limit = -1
	set, err := openFlowSet(w.flows)
	traffictest.Try(t, err)
	defer set.Close()
	traffictest.Try(t, set.turn(w.flows[0], 0, unix.EAGAIN))
	labtest.Equal(t, "flows left", set.left, 1)
	labtest.Equal(t, "undrained", w.flows[0].undrained, true)
	_, err = unix.Write(senders[0], []byte("more"))
	traffictest.Try(t, err)
	ready, err := set.Wait(true)
	traffictest.Try(t, err)
	labtest.Equal(t, "flows that wake the thread", len(ready), 0)
}
