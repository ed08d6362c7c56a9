package traffic

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tare/test/labtest"
)

// A thread that was stopped finds many responses after the window's end: each request that was
// due before it has a response time.
func TestOpenLoopForgetsNoRequestAtTheEnd(t *testing.T) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(err)
	defer CloseSockets(ends[:])
	r := StartRun(t.Context())
	defer r.End()
	o := &openLoop{
		run: r, flows: []OpenFlow{NewOpenFlow(ends[0], nil, []byte{0})}, meter: NewMeter(NewTimetable(Window{Duration: time.Millisecond}, 1)),
		gap: float64(time.Millisecond), response: NewHistogram(), service: NewHistogram(),
	}
	o.meter.Step(Event{N: 1}) // opens the window
	r.base = r.base.Add(-20 * time.Millisecond)
	must(o.ask(r.Now()))
	_, err = unix.Write(ends[1], make([]byte, o.asked))
	must(err)
	must(o.receive(&o.flows[0]))
	o.leaveOpen()
	due := int64(0)
	for o.dueAt(due) < o.meter.to {
		due++
	}
	labtest.AtLeast(t, "requests that were asked", o.asked, 20)
	labtest.Equal(t, "responses in the window", o.meter.counted, 1)
	labtest.Equal(t, "response times", o.response.Count(), due)
}
