package workload

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"time"

	"tare/traffic/http"
)

// autocannon drives http from one thread of Node.js. It ends at the end of a
// sampling step, so it gets one that is a little longer than the run. Its
// latencies are in whole milliseconds.
func autocannon() Tool {
	program := Program{Name: "autocannon", Get: "npm install -g autocannon", Version: []string{"--version"}}
	return Tool{
		Name: "autocannon", Program: program, Modes: []string{string(http.KeepAlive)},
		Send: func(ctx context.Context, run Run, to netip.AddrPort) (Tally, error) {
			const late = 100 * time.Millisecond // by which the edges may be
			step := run.Warmup + run.Duration + late
			c := client{program: program, args: []string{
				"-j", "-n", "-c", strconv.Itoa(run.Flows),
				"-L", strconv.FormatInt(step.Milliseconds(), 10), "-d", fmt.Sprint(step.Seconds() / 2), bodyURL(run, to),
			}}
			cell, window, err := c.drive(ctx, run)
			if err != nil {
				return Tally{}, err
			}
			took := cell.Params.Number("duration")
			if took <= 0 {
				return Tally{}, errors.New("autocannon did not print how long it ran: install its latest version: " + program.Get)
			}
			// Its own rate divides by the step, which it exceeds when it is busy.
			return c.requests(cell, cell.Samples[0].Counters["requests"]/took, window), nil
		},
	}
}
