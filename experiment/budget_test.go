package experiment

import (
	"strings"
	"testing"
	"time"

	"tare/result"
	"tare/test/labtest"
)

// asked is the quick plan of some networks on one path under one workload.
func asked(within result.Seconds, networks ...string) result.Plan {
	p := Quick()
	p.Name, p.MaxTime, p.Networks = "", within, result.NetworksNamed(networks...)
	p.Paths, p.Workloads = []string{"same-host"}, []result.WorkloadPlan{{Name: "tcp_rr"}}
	return p
}

// A time buys as many blocks as verdicts need, at least, in slots that fit.
func TestTimeBuysVerdicts(t *testing.T) {
	for _, within := range []result.Seconds{5, 8, 20, 60} {
		p := Complete(asked(within, "host", "veth"))
		if err := CheckTime(p); err != nil {
			t.Fatal(err)
		}
		labtest.AtLeast(t, "blocks", p.Blocks, VerdictBlocks)
		labtest.AtMost(t, "time of all", setup(p)+TimeOf(p), within.Duration())
	}
	free, short := Complete(asked(0, "host", "veth")), Complete(asked(5, "host", "veth"))
	labtest.LessThan(t, "duration in 5 s", short.Duration, free.Duration)
	labtest.Equal(t, "duration in an hour", Complete(asked(3600, "host", "veth")).Duration, free.Duration)
}

// What a user sets is kept.
func TestTimeChangesNothingThatIsAsked(t *testing.T) {
	p := asked(5, "host", "veth")
	p.Looks, p.Blocks, p.Duration = false, 200, 0.5
	p = Complete(p)
	labtest.Equal(t, "blocks", p.Blocks, 200)
	labtest.Equal(t, "duration", p.Duration, 0.5)
}

// Where not even so many blocks fit, the least time is named, and that time does.
func TestTooLittleTimeNamesTheLeast(t *testing.T) {
	p := Complete(asked(1, "host", "veth", "bridge", "macvlan"))
	err := CheckTime(p)
	if err == nil {
		t.Fatal("a second is enough")
	}
	_, after, _ := strings.Cut(err.Error(), "--max-time ")
	text, _, _ := strings.Cut(after, ",")
	least, wrong := time.ParseDuration(text)
	if wrong != nil {
		t.Fatalf("%v: %v", wrong, err)
	}
	if err := CheckTime(Complete(asked(result.Seconds(least.Seconds()), "host", "veth", "bridge", "macvlan"))); err != nil {
		t.Errorf("the time that it names does not do: %v", err)
	}
	few := asked(1, "host", "veth")
	few.Looks, few.Blocks = false, 2
	labtest.Equal(t, "without verdicts", CheckTime(Complete(few)), nil)
}
