package diagnose

import (
	"fmt"
	"maps"

	"tare/catalog"
	"tare/result"
)

// weighedCells are results of a cell each, beside its baseline and its parent.
func weighedCells() map[string]*result.Result {
	all := map[string]*result.Result{}
	for name, change := range cellsToWeigh() {
		cell, baseline := measured("bridge", catalog.CrossHost, "tcp_stream", 0.5), measured(catalog.Baseline, catalog.CrossHost, "tcp_stream", 0)
		cell.Metrics[0].Value, cell.Metrics[0].Better = 1e10, result.Higher
		cell.Metrics[0].Baseline = &result.Baseline{Network: catalog.Baseline, Value: 2e10}
		cell.Samples = []result.Sample{{Metrics: map[string]float64{"throughput": 1e10}, Counters: map[string]float64{"window": 0.06}}}
		res := &result.Result{}
		change(&cell, res)
		res.Cells = append(res.Cells, cell, baseline)
		all[name] = res
	}
	return all
}

// cellsToWeigh are what is wrong with a cell that has half of its baseline's throughput.
func cellsToWeigh() map[string]func(c *result.Cell, res *result.Result) {
	all := cellsThatWait()
	for _, more := range []map[string]func(c *result.Cell, res *result.Result){busyCells(), cellsAtLimits(), otherCells()} {
		maps.Copy(all, more)
	}
	return all
}

func reads(c *result.Cell, at, source string, values map[string]float64) {
	c.Samples[0].Readings = append(c.Samples[0].Readings, counts(at, source, values))
}

func states(res *result.Result, at, source string, values map[string]any) {
	res.States = append(res.States, result.State{At: "bridge." + at, Source: source, Values: values})
}

func tcpInfo(c *result.Cell, values map[string]float64) { maps.Copy(c.Samples[0].Counters, values) }

// cpus are those of a machine of which the first is full of packets, and the second idles for a share.
func cpus(second float64) map[string]float64 {
	return map[string]float64{
		"cpu0.softirq": 0.70, "cpu0.busy": 0.95, "cpu0.idle": 0.05, "cpu1.softirq": 0.1, "cpu1.busy": 1 - second, "cpu1.idle": second,
		"cpu2.busy": 0.2, "cpu2.idle": 0.8,
	}
}

// move lets threads change their CPU so often in two windows that lie apart.
func move(c *result.Cell, times, apart float64) {
	c.Samples = append(c.Samples, result.Sample{Metrics: map[string]float64{"throughput": 1e10 * (1 + apart)}, Counters: map[string]float64{}})
	reads(c, "h2/c1", "/proc/self/task/*/sched", map[string]float64{"migrations": times})
}

// sweep divides the goodput of small and of large messages.
func sweep(small, large float64) func(c *result.Cell, res *result.Result) {
	return func(c *result.Cell, res *result.Result) {
		of := func(c *result.Cell, small, large float64) {
			c.Workload, c.Samples = "tcp_sizes", nil
			for block := range 8 {
				c.Samples = append(c.Samples, result.Sample{Block: block, Series: map[string][]float64{
					"size": {64, 1024, 8192, 65536, 262144}, "throughput": {1e8 * small, 1e9 * small, 5e9, 2e10 * large, 3e10 * large},
				}})
			}
		}
		of(c, small, large)
		other := measured(catalog.Baseline, catalog.CrossHost, "tcp_sizes", 0)
		of(&other, 1, 1)
		res.Cells = append(res.Cells, other)
	}
}

// cellsThatWait wait for a window, a buffer or the application.
func cellsThatWait() map[string]func(c *result.Cell, res *result.Result) {
	return map[string]func(c *result.Cell, res *result.Result){
		"a small receive buffer": func(c *result.Cell, res *result.Result) {
			tcpInfo(c, map[string]float64{"busy": 0.08, "rwnd_limited": 0.02, "rtt": 0.001})
			states(res, "h2/c1", sysctls, map[string]any{"ipv4/tcp_rmem": "4096 16384 16384"})
		},
		"no window scaling": func(c *result.Cell, res *result.Result) {
			tcpInfo(c, map[string]float64{"busy": 0.08, "rwnd_limited": 0.06, "rtt": 0.00005})
			states(res, "h2/c1", sysctls, map[string]any{"ipv4/tcp_rmem": "4096 131072 33554432", windowScaling: 0.0})
		},
		"a large window that is full": func(c *result.Cell, res *result.Result) {
			tcpInfo(c, map[string]float64{"busy": 0.08, "rwnd_limited": 0.06, "rtt": 0.001})
			states(res, "h2/c1", sysctls, map[string]any{"ipv4/tcp_rmem": "4096 131072 33554432"})
		},
		"a small window, sometimes full": func(c *result.Cell, res *result.Result) {
			tcpInfo(c, map[string]float64{"busy": 0.08, "rwnd_limited": 0.03, "rtt": 0.00005})
			states(res, "h2/c1", sysctls, map[string]any{"ipv4/tcp_rmem": "4096 131072 33554432"})
		},
		"small windows of eight flows": func(c *result.Cell, res *result.Result) {
			c.Params["flows"] = 8.0
			tcpInfo(c, map[string]float64{"busy": 0.08, "rwnd_limited": 0.06, "rtt": 0.0005})
		},
		"a small send buffer": func(c *result.Cell, res *result.Result) {
			tcpInfo(c, map[string]float64{"busy": 0.05, "sndbuf_limited": 0.02})
			states(res, "h1/c1", sysctls, map[string]any{"ipv4/tcp_wmem": "4096 16384 16384"})
		},
		"an application that waits": func(c *result.Cell, res *result.Result) {
			c.Params["flows"] = 2.0
			tcpInfo(c, map[string]float64{"busy": 0.03, "app_limited": 2})
		},
		"one application of two waits": func(c *result.Cell, res *result.Result) {
			c.Params["flows"] = 2.0
			tcpInfo(c, map[string]float64{"busy": 0.03, "app_limited": 1})
		},
		"an application that is busy": func(c *result.Cell, res *result.Result) {
			c.Params["flows"] = 2.0
			tcpInfo(c, map[string]float64{"busy": 0.1, "app_limited": 2})
		},
		"at the limits of waiting": func(c *result.Cell, res *result.Result) {
			tcpInfo(c, map[string]float64{"busy": 1, "rwnd_limited": limitedShare})
			states(res, "h2/c1", sysctls, map[string]any{"ipv4/tcp_rmem": "4096 16384 16384"})
		},
		"a buffer that is just not small": func(c *result.Cell, res *result.Result) {
			tcpInfo(c, map[string]float64{"busy": 1, "rwnd_limited": 0.3})
			states(res, "h2/c1", sysctls, map[string]any{"ipv4/tcp_rmem": fmt.Sprintf("4096 16384 %d", smallBuffer)})
		},
		"a window that is just small": func(c *result.Cell, res *result.Result) {
			c.Samples[0].Metrics["throughput"] = 8 * 8 * smallWindow
			tcpInfo(c, map[string]float64{"busy": 1, "rwnd_limited": mostShare, "rtt": 0.125})
		},
		"small windows, on average": func(c *result.Cell, res *result.Result) {
			c.Samples[0].Metrics["throughput"] = 8 * 8 * smallWindow
			c.Samples = append(c.Samples, result.Sample{Metrics: map[string]float64{"throughput": 0}})
			tcpInfo(c, map[string]float64{"busy": 1, "rwnd_limited": 0.8, "rtt": 0.2})
		},
		"an application just at its limit": func(c *result.Cell, res *result.Result) {
			tcpInfo(c, map[string]float64{"window": 1, "busy": idleShare, "app_limited": 1})
		},
	}
}
