package agreement

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"tare/result"
	"tare/test/labtest"
)

// measure runs tare run with some flags, and returns its result.
func measure(t *testing.T, flags ...string) *result.Result {
	t.Helper()
	out := filepath.Join(t.TempDir(), "result.json")
	command(t, slices.Concat([]string{"run", "--paths", "cross-host", "--workloads", "tcp_stream", "--duration", "80ms", "--out", out}, flags)...)
	res, err := result.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// command calls tare.
func command(t *testing.T, argv ...string) {
	t.Helper()
	if printed, err := exec.Command(labtest.Tare(t), argv...).CombinedOutput(); err != nil {
		t.Fatalf("tare %v: %v\n%s", argv, err, printed)
	}
}

// named are the cell of a network and its findings, the first first.
func named(t *testing.T, res *result.Result, network string) (ids []string, first result.Finding) {
	t.Helper()
	for _, c := range res.Cells {
		if c.Network != network {
			continue
		}
		for _, f := range c.Findings {
			ids = append(ids, f.ID)
		}
		if len(ids) == 0 {
			t.Fatalf("nothing was named of %+v", c.Metrics)
		}
		return ids, c.Findings[0]
	}
	t.Fatalf("%s was not measured", network)
	return nil, first
}

// What a plan lacks to divide a toll is measured besides.
func TestDeepTollsAreDividedByWhatIsMeasuredBesides(t *testing.T) {
	res := measure(t, "--networks", "vxlan", "--nic", "tso", "--blocks", "10")
	labtest.Equal(t, "cells", len(res.Cells), 2)
	var besides []string
	for _, c := range res.Contrasts {
		besides = append(besides, c.Network+" "+c.Params.Text("nic"))
		labtest.Equal(t, "samples of "+c.Network, len(c.Samples), 0)
	}
	for _, want := range []string{"vxlan tso", "vxlan full", "route full", "ptp full"} {
		labtest.Equal(t, want+" was measured besides", slices.Contains(besides, want), true)
	}
	_, first := named(t, res, "vxlan")
	labtest.Equal(t, "the first cause", first.ID, "tunnel-segmentation")
	if first.Low == nil || *first.Low <= 0 || *first.Low > first.Share || *first.High < first.Share {
		t.Errorf("its share is %v [%v, %v]", first.Share, first.Low, first.High)
	}
	var sum float64
	for _, f := range res.Cells[1].Findings {
		sum += f.Share
	}
	labtest.MoreThan(t, "sum of the shares", sum, 0.8)
}

// What was changed in a lab is what an untouched lab's toll has not: where a rule names the
// change, that is its share; else the share says that there is a change.
func TestDeepChangesAreSeenNextToAnUntouchedLab(t *testing.T) {
	lab := fmt.Sprintf("changed-%d", os.Getpid())
	command(t, "lab", "up", "route", "--name", lab)
	t.Cleanup(func() { command(t, "lab", "down", "--name", lab) })
	for _, change := range []struct {
		argv  []string
		cause string
	}{
		{[]string{"ip", "link", "set", "dev", "eth0", "gso_max_segs", "1"}, "lab-changed"},
		{[]string{"ethtool", "-K", "eth0", "tso", "off", "gso", "off"}, "offload-off"},
	} {
		command(t, slices.Concat([]string{"lab", "exec", "--name", lab, "h1", "--"}, change.argv)...)
		ids, first := named(t, measure(t, "--lab", lab, "--blocks", "10"), "route")
		labtest.Equal(t, "the first cause", first.ID, change.cause)
		labtest.MoreThan(t, "its share", first.Share, 0.3)
		labtest.Equal(t, change.cause+": lab-changed is named", slices.Contains(ids, "lab-changed"), change.cause == "lab-changed")
	}
}
