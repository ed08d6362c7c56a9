package foreign

import (
	"strings"
	"testing"

	"tare/test/labtest"
)

// Options have values in several forms, and some that are none.
func TestOptionsOfACommand(t *testing.T) {
	for _, c := range []struct {
		args          string
		number        any
		rate          any
		word          any
		value         string
		has, followed bool
	}{
		{"-P 4", 4, 4.0, "4", "4", true, true},
		{"-P4", 4, 4.0, "4", "4", false, true},
		{"--parallel 4", 4, 4.0, "4", "4", true, true},
		{"--parallel=4", 4, 4.0, "4", "4", false, true},
		{"-c host -P 0", nil, nil, "0", "0", true, true},
		{"-P 10M", nil, 1e7, "10M", "10M", true, true},
		{"-P", nil, nil, nil, "", true, false},
		{"--parallel=", nil, nil, nil, "", false, true},
		{"--Parallel 4", nil, nil, nil, "", false, false},
		{"", nil, nil, nil, "", false, false},
	} {
		cmd := command{args: strings.Fields(c.args)}
		value, followed := cmd.flag("-P", "--parallel")
		labtest.Equal(t, c.args+": value", value, c.value)
		labtest.Equal(t, c.args+": is there", followed, c.followed)
		labtest.Equal(t, c.args+": is an option", cmd.has("-P", "--parallel"), c.has)
		labtest.Equal(t, c.args+": number", cmd.number("-P", "--parallel"), c.number)
		labtest.Equal(t, c.args+": rate", cmd.rate("-P", "--parallel"), c.rate)
		labtest.Equal(t, c.args+": word", cmd.word("-P", "--parallel"), c.word)
	}
	for _, c := range []struct {
		tool, size, rate   string
		wantSize, wantRate any
	}{
		{"iperf", "64k", "20M", int64(64000), 20971520.0},
		{"iperf", "64K", "20m", int64(65536), 20e6},
		{"iperf", "1400", "1.5g", int64(1400), 1.5e9},
		{"iperf", "0k", "100", nil, 100.0},
		{"iperf3", "64k", "20M", int64(65536), 20e6},
		{"iperf3", "64K", "20m", int64(65536), 20e6},
	} {
		cmd := command{tool: c.tool, args: []string{"-l", c.size, "-b", c.rate}}
		labtest.Equal(t, c.tool+" -l "+c.size, cmd.size("-l", "--len"), c.wantSize)
		labtest.Equal(t, c.tool+" -b "+c.rate, cmd.rate("-b", "--bandwidth"), c.wantRate)
	}
	long := command{args: []string{"=4", "--time=9"}}
	value, _ := long.flag("-t", "")
	labtest.Equal(t, "an option without a long form", value, "")
	value, _ = long.flag("", "--time")
	labtest.Equal(t, "an option without a short form", value, "9")
}
