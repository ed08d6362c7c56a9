package report

import (
	"testing"

	"tare/result"
	"tare/test/labtest"
	"tare/weigh"
)

// How it was measured is said where one path has both, and not where the paths differ in it.
func TestDesignDistinguishesOnOnePath(t *testing.T) {
	group := func(path string, params result.Params) *weigh.Group {
		return &weigh.Group{Path: path, Workload: "tcp_stream", Mode: "write128K", Params: params}
	}
	slots := group("same-host", result.Params{"design": result.DesignSlots, "duration": 0.03})
	for _, c := range []struct {
		other *weigh.Group
		want  string
	}{
		{group("cross-host", result.Params{"duration": 0.1}), "tcp_stream (write128K)"},
		{group("same-host", result.Params{"duration": 0.1}), "tcp_stream (write128K, design slots, duration 0.03)"},
	} {
		labtest.Equal(t, "beside "+c.other.Path, describe(slots, []*weigh.Group{slots, c.other}), c.want)
	}
}
