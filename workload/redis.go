package workload

import (
	"time"

	"tare/traffic"
)

// redis is requests for one value in the server's memory.
func redis() Workload {
	return Workload{
		Name: "redis", Doc: "reads or writes of one value, on lasting connections to Redis", TCP: true,
		Modes: []string{string(traffic.RedisGet), string(traffic.RedisSet)}, Camel: "Redis", Headline: "rate", Work: PerTransaction,
		Size: Bounds{Default: 1024, Least: 1, Most: traffic.MaxBody}, Flows: 1024, FlowsDefault: []int{10},
		Slot: 10 * time.Millisecond, Servers: []Server{redisServer()},
		Send: sending(Run.redis, traffic.CallRedis, fetched),
	}
}

// redis is the run as the engine knows it.
func (r Run) redis() (traffic.Redis, error) {
	return traffic.Redis{Window: r.window(), Mode: traffic.RedisMode(r.Mode), Connections: r.Flows, Size: r.Size}, nil
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
