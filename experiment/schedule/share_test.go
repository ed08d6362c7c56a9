package schedule

import (
	"testing"
	"time"

	"tare/test/labtest"
)

// TestShare sends as fast as it goes for a tenth of the time, and as much as it may after that.
func TestShare(t *testing.T) {
	now := time.Unix(0, 0)
	s := NewShare(1e9, now)
	labtest.Equal(t, "pause before anything", s.Pause(now), 0)
	s.Spend(10e9, now)
	labtest.Equal(t, "pause after ten seconds' worth", s.Pause(now), 0)
	s.Spend(3e9, now)
	labtest.Equal(t, "pause after 3 Gbit more", s.Pause(now), 3*time.Second)
	labtest.Equal(t, "pause 2 s later", s.Pause(now.Add(2*time.Second)), time.Second)
	labtest.Equal(t, "pause 3 s later", s.Pause(now.Add(3*time.Second)), 0)
	later := now.Add(time.Hour)
	s.Spend(11e9, later)
	labtest.Equal(t, "pause an hour later: time that was not used is not kept", s.Pause(later), time.Second)
	unbound := NewShare(0, now)
	unbound.Spend(1e15, now)
	labtest.Equal(t, "pause without a bound", unbound.Pause(now), 0)
}
