package workload

import (
	"context"
	"fmt"
	"math"
	"net/netip"
	"strconv"

	"tare/traffic/http"
)

// wrk drives http on one thread. It counts its time in whole seconds but ends
// when it is interrupted, within the tenth of a second in which it looks.
func wrk() Tool {
	program := Program{Name: "wrk", Get: "apt-get install wrk", Version: []string{"-v"}}
	return Tool{
		Name: "wrk", Program: program, Modes: []string{string(http.KeepAlive), string(http.CloseEach)},
		Send: func(ctx context.Context, run Run, to netip.AddrPort) (Tally, error) {
			longest := math.Ceil((run.Warmup + run.Duration + printWait).Seconds())
			args := []string{"-t1", "-c" + strconv.Itoa(run.Flows), fmt.Sprintf("-d%.0fs", longest), "--latency"}
			if run.Mode == string(http.CloseEach) {
				args = append(args, "-H", "Connection: close")
			}
			c := client{program, append(args, bodyURL(run, to)), true}
			cell, window, err := c.drive(ctx, run)
			if err != nil {
				return Tally{}, err
			}
			return c.requests(cell, cell.Samples[0].Metrics["rate"], window), nil
		},
	}
}

// bodyURL is what a tool asks for.
func bodyURL(run Run, to netip.AddrPort) string { return "http://" + to.String() + bodyPath(run.Size) }
