package workload

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"tare/traffic"
)

// mysql is selects of one row by its key, from a table in the server's memory.
func mysql() Workload {
	return Workload{
		ServedBy: []Server{mariadb()},
		DrivenBy: []Tool{sysbench()},
		Send: func(ctx context.Context, run Run, to netip.AddrPort) (Tally, error) {
			done, err := selectPoints(ctx, run, to)
			if err != nil {
				return Tally{}, fmt.Errorf("mysql: %w", err)
			}
			t := Tally{
				Metrics: map[string]float64{"rate": float64(done.count) / done.elapsed.Seconds()},
				CC:      done.congestion, Window: done.elapsed, Work: float64(done.count),
			}
			t.addTaken("rate", done.taken, 1)
			t.addMedians("latency_p50", done.taken)
			addQuantiles(t.Metrics, "latency", done.latency, quantiles{"_p50": 0.5, "_p95": 0.95, "_p99": 0.99})
			return t, nil
		},
	}
}

// What is asked for, by sysbench and by our own client alike.
const (
	selectPoint = "SELECT c FROM sbtest1 WHERE id=?"
	pointRows   = 10000 // of the table, with ids from 1 on; all alike are asked for
)

// account is how a client logs in, with the names that sysbench expects. The
// password is no secret: only the lab reaches the server.
const (
	accountUser     = "sbtest"
	accountPassword = "sbtest"
	accountDatabase = "sbtest"
)

// points is what our own client measured.
type points struct {
	count      int64         // selects that ended inside the window
	elapsed    time.Duration // the window
	taken      traffic.Taken
	latency    *traffic.Histogram
	congestion string
}
