package workload

import (
	"tare/traffic"
	"tare/traffic/redis"
)

// redisRequests is requests for one value in the server's memory.
func redisRequests() Workload {
	return Workload{
		ServedBy: []Server{redisServer()},
		Send:     sending(Run.redis, redis.Call, fetched),
	}
}

// redis is the run as the engine knows it.
func (r Run) redis() (redis.Options, error) {
	return redis.Options{Window: r.window(), Mode: redis.Mode(r.Mode), Connections: r.Flows, Size: r.Size}, nil
}

// fetched is the client's tally.
func fetched(_ Run, done traffic.Transactions) Tally {
	t := Tally{
		Metrics: map[string]float64{"rate": done.Rate()},
		CC:      done.Congestion, Window: done.Elapsed, Work: float64(done.Count),
	}
	addPercentiles(t.Metrics, "latency", done.RTT)
	t.addSteps("rate", done.Series, 1)
	t.addTaken("rate", done.Taken, 1)
	t.addMedians("latency_p50", done.Taken)
	return t
}
