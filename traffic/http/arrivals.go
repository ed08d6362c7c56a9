package http

import (
	"time"

	"tare/traffic"
)

// arrivals are the instants at which the requests of an open loop fall due: at
// even steps from the start, so that no connection and no second begins with a
// burst. What is late stays due; nothing is dropped and no step is stretched.
type arrivals struct {
	step  float64       // ns; no time.Duration, since a fraction of one adds up
	start time.Duration // unset before the first connection is there
	stop  time.Duration // what would fall due from then on does not
	next  int64         // the first request that no connection has taken
}

func newArrivals(rate float64) *arrivals {
	return &arrivals{step: float64(time.Second) / rate, start: traffic.Unset, stop: traffic.Unset}
}

// due is when the next request falls due; unset before the start and after the
// last.
func (a *arrivals) due() time.Duration {
	if a.start == traffic.Unset {
		return traffic.Unset
	}
	if at := a.start + time.Duration(float64(a.next)*a.step); at < a.stop {
		return at
	}
	return traffic.Unset
}

// take takes the next request.
func (a *arrivals) take() { a.next++ }
