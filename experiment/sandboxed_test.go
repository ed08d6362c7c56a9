package experiment

import (
	"strings"
	"testing"

	"tare/test/labtest"
	"tare/workload"
)

// What needs the kernel in a container is left out in a sandbox, with the reason.
func TestUnfitInSandbox(t *testing.T) {
	for _, c := range []struct {
		name string
		run  workload.Run
		cc   string
		why  string // part of it; empty: it is measured
	}{
		{"tcp_rr", workload.Run{}, "cubic", ""},
		{"tcp_stream", workload.Run{}, "reno", ""},
		{"udp_pps", workload.Run{Mode: "mmsg"}, "bbr", ""},
		{"udp_pps", workload.Run{Mode: "xdp"}, "cubic", "take mmsg"},
		{"udp_pps", workload.Run{Mode: "gso"}, "cubic", "take mmsg"},
		{"tcp_rr", workload.Run{}, "bbr", "--cc cubic"},
		{"http", workload.Run{}, "cubic", "--cc reno"},
		{"http", workload.Run{}, "reno", ""},
		{"http", workload.Run{Server: "nginx"}, "reno", "own server"},
		{"attach", workload.Run{}, "cubic", "the sandbox has taken over"},
		{"lifecycle", workload.Run{}, "cubic", ""},
	} {
		kind, known := workload.Find(c.name)
		if !known {
			t.Fatalf("no workload %s", c.name)
		}
		why := unfitInSandbox(kind, c.run, c.cc)
		if (why == "") != (c.why == "") || !strings.Contains(why, c.why) {
			t.Errorf("%s %s under %s: %q, want %q", c.name, c.run.Mode+c.run.Server, c.cc, why, c.why)
		}
	}
}

// A run in a sandbox asks for the plan's congestion control, unless it asks for another, and
// its ends share no clock.
func TestRunsInSandboxes(t *testing.T) {
	run := inSandbox(workload.Run{}, "cubic")
	labtest.Equal(t, "congestion control", run.CC, "cubic")
	labtest.Equal(t, "own clocks", run.OwnClocks, true)
	labtest.Equal(t, "congestion control that the workload asked for", inSandbox(workload.Run{CC: "reno"}, "cubic").CC, "reno")
}
