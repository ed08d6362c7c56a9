package diagnose

import (
	"tare/catalog"
	"tare/result"
)

// busyCells have CPUs that are busy, or messages of several sizes.
func busyCells() map[string]func(c *result.Cell, res *result.Result) {
	return map[string]func(c *result.Cell, res *result.Result){
		"one full CPU": func(c *result.Cell, res *result.Result) { reads(c, "", cpuTimes, cpus(0.8)) },
		"one full CPU of the server's": func(c *result.Cell, res *result.Result) {
			c.Server.CPUs = "0-1"
			reads(c, "", cpuTimes, cpus(0.5))
		},
		"no idle CPU of the server's": func(c *result.Cell, res *result.Result) {
			c.Server.CPUs = "0-1"
			reads(c, "", cpuTimes, cpus(0.3))
		},
		"packets steered onto the reader": func(c *result.Cell, res *result.Result) {
			c.Workload, c.Server.CPUs = "udp_pps", "1"
			c.Samples[0].Metrics["loss"] = 0.3
			reads(c, "h2/c1", snmp, map[string]float64{"Udp.RcvbufErrors": 1000})
			reads(c, "h2", linkStats, map[string]float64{"eth0.rx_packets": 1e5, "eth1.rx_packets": 10})
			reads(c, "", cpuTimes, map[string]float64{"cpu0.busy": 0.2, "cpu0.idle": 1.8, "cpu1.softirq": 0.9, "cpu1.busy": 2, "cpu1.idle": 0})
			states(res, "h2", steering, map[string]any{"eth0.rx-0.rps_cpus": "2"})
		},
		"threads that move": func(c *result.Cell, res *result.Result) { move(c, 9, 0.5) },
		"threads that move, evenly": func(c *result.Cell, res *result.Result) {
			move(c, 9, 0.001)
		},
		"threads that stay":                func(c *result.Cell, res *result.Result) { move(c, 0.5, 0.5) },
		"small messages that cost more":    sweep(0.5, 1),
		"large messages that cost more":    sweep(1, 0.6),
		"messages that cost much the same": sweep(0.9, 0.91),
		"a receiver that collapses": func(c *result.Cell, res *result.Result) {
			c.Workload = "udp_load"
			tcpInfo(c, map[string]float64{"collapse": 0.4, "knee": 3e5, "received_most": 3e5, "received_at_twice_knee": 1.8e5})
			c.Samples[0].Series = map[string][]float64{"softirq_cpu0": {0.1, 0.2}, "softirq_cpu1": {0.3, 0.8}}
		},
		"locks": func(c *result.Cell, res *result.Result) {
			c.Trace = &result.Trace{CPU: &result.CPUUse{Kinds: []result.Share{{Name: "copy", Share: 0.5}, {Name: result.KindLockWait, Share: 0.3}}}}
		},
	}
}

// cellsAtLimits are where the rules of busyCells begin to apply.
func cellsAtLimits() map[string]func(c *result.Cell, res *result.Result) {
	return map[string]func(c *result.Cell, res *result.Result){
		"at the limits of a full CPU": func(c *result.Cell, res *result.Result) {
			reads(c, "", cpuTimes, map[string]float64{"cpu0.busy": 1.2, "cpu0.idle": 0.8, "cpu1.softirq": 1.2, "cpu1.busy": 1.8, "cpu1.idle": 0.2})
		},
		"below the limits of a full CPU": func(c *result.Cell, res *result.Result) {
			reads(c, "", cpuTimes, map[string]float64{"cpu0.busy": 0.4, "cpu0.idle": 1.6, "cpu1.softirq": 1, "cpu1.busy": 2, "cpu1.idle": 0})
		},
		"at the limits of packets steered": func(c *result.Cell, res *result.Result) {
			c.Workload, c.Server.CPUs = "udp_pps", "0"
			c.Samples[0].Metrics["loss"] = steeredLoss
			reads(c, "h2/c1", snmp, map[string]float64{"Udp.RcvbufErrors": 1000})
			reads(c, "h2", linkStats, map[string]float64{"eth0.rx_packets": 1e5, "eth1.rx_packets": 1e4, "eth2.rx_packets": 1})
			reads(c, "", cpuTimes, map[string]float64{"cpu0.softirq": 2 * steeredSoftirq, "cpu0.busy": 2, "cpu1.busy": 1.5, "cpu1.idle": 0.5, "cpu2.busy": 1.2, "cpu2.idle": 0.8})
			states(res, "h2", steering, map[string]any{"eth0.rx-0.rps_cpus": "1", "eth1.rx-0.rps_cpus": "1"})
		},
		"threads that move as often as counts": func(c *result.Cell, res *result.Result) {
			c.Params["duration"], c.Params["warmup"] = 0.5, 0.5
			c.Samples[0].Metrics["throughput"] = 0.75e10
			c.Samples = append(c.Samples, result.Sample{Metrics: map[string]float64{"throughput": 1.25e10}})
			reads(c, "h2/c1", "/proc/self/task/*/sched", map[string]float64{"migrations": 2 * migrationsPerSecond})
		},
		"a receiver that collapses as much as counts": func(c *result.Cell, res *result.Result) {
			c.Workload = "udp_load"
			tcpInfo(c, map[string]float64{"collapse": collapsed, "knee": 3e5, "received_most": 3e5, "received_at_twice_knee": 2e5})
			c.Samples[0].Series = map[string][]float64{"softirq_cpu0": {0, collapseSoftirq}, "softirq_cpu1": {0, collapseSoftirq}}
		},
		"as many locks as count": func(c *result.Cell, res *result.Result) {
			c.Trace = &result.Trace{CPU: &result.CPUUse{Kinds: []result.Share{{Name: result.KindLockWait, Share: lockWaits}}}}
		},
		"sizes that differ": func(c *result.Cell, res *result.Result) {
			sweep(0.5, 1)(c, res)
			for n := range c.Samples {
				copy(c.Samples[n].Series["throughput"], []float64{0.2e8, 0.8e9, 5e9, 1.9e10, 2.4e10})
				c.Samples[n].Series["size"] = append(c.Samples[n].Series["size"], 1<<20)
			}
		},
	}
}

// otherCells lose packets, or are of another network.
func otherCells() map[string]func(c *result.Cell, res *result.Result) {
	return map[string]func(c *result.Cell, res *result.Result){
		"segments overtaken as often as counts": func(c *result.Cell, res *result.Result) {
			reads(c, "h1/c1", snmp, map[string]float64{"Tcp.RetransSegs": 1000, "Tcp.OutSegs": 1e4})
			reads(c, "h1/c1", netstat, map[string]float64{"TcpExt.TCPDSACKRecvSegs": needlessShare * 1000, "TcpExt.TCPFastRetrans": overtakenShare * 1000})
		},
		"a long list of Services": func(c *result.Cell, res *result.Result) {
			c.Network, c.Clusters, c.Path, c.Workload = "service-iptables", []string{"service-iptables"}, catalog.ClusterIP, "tcp_crr"
			reads(c, "h1", linkStats, map[string]float64{"eth0.tx_packets": 1e6})
			res.States = append(res.States, result.State{At: "service-iptables.h1", Source: rules, Values: map[string]any{"ip nat KUBE-SERVICES.rules": float64(ruleLimit)}})
		},
		"segments that were overtaken": func(c *result.Cell, res *result.Result) {
			reads(c, "h1/c1", snmp, map[string]float64{"Tcp.RetransSegs": 100, "Tcp.OutSegs": 2e4})
			reads(c, "h1/c1", netstat, map[string]float64{"TcpExt.TCPDSACKRecvSegs": 95, "TcpExt.TCPFastRetrans": 100})
		},
		"segments lost by a shaper": func(c *result.Cell, res *result.Result) {
			c.Samples[0].Metrics["retransmits"] = 40
			reads(c, "h1", qdiscs, map[string]float64{"eth0.tbf.dropped": 12, "eth0.tbf.overlimits": 90})
		},
		"segments lost at random": func(c *result.Cell, res *result.Result) {
			c.Samples[0].Metrics["retransmits"] = 40
			states(res, "h1", rules, map[string]any{"ip z f.rules": 1.0, "ip z f.hook": "forward", "ip z f.handles": "7", "ip z f 7": "numgen = 0-4 -> drop"})
		},
		"a rule of chance that no segment met": func(_ *result.Cell, res *result.Result) {
			states(res, "h1", rules, map[string]any{"ip z f.rules": 1.0, "ip z f.hook": "forward", "ip z f.handles": "7", "ip z f 7": "numgen = 0-4 -> drop"})
		},
		"small buffers of datagrams": func(c *result.Cell, res *result.Result) {
			c.Workload = "udp_stream"
			c.Samples[0].Metrics["loss"] = 0.3
			reads(c, "h2/c1", snmp, map[string]float64{"Udp.RcvbufErrors": 1000})
			states(res, "h2/c1", sysctls, map[string]any{"core/rmem_max": 212992.0})
		},
		"large buffers of datagrams": func(c *result.Cell, res *result.Result) {
			c.Workload = "udp_stream"
			c.Samples[0].Metrics["loss"] = 0.3
			reads(c, "h2/c1", snmp, map[string]float64{"Udp.RcvbufErrors": 1000})
			states(res, "h2/c1", sysctls, map[string]any{"core/rmem_max": 8388608.0})
		},
		"a tunnel and its parent": func(c *result.Cell, res *result.Result) {
			parent := *c
			parent.Metrics = []result.Metric{{Name: "throughput", Toll: &result.Toll{Value: 0.15, Verdict: "slower"}}}
			res.Cells = append(res.Cells, parent)
			c.Network, c.Clusters = "vxlan", []string{"vxlan"}
			reads(c, "h1", linkStats, map[string]float64{"vxlan0.tx_packets": 1000, "vxlan0.rx_packets": 234})
			res.States = append(res.States, result.State{At: "vxlan.h1", Source: links, Values: map[string]any{"vxlan0.kind": "vxlan", "vxlan0.vni": 42.0}})
		},
		"a tunnel where none is needed": func(c *result.Cell, res *result.Result) {
			c.Network, c.Clusters = "route", []string{"route"}
			reads(c, "h1", linkStats, map[string]float64{"tunl0.tx_packets": 1000, "tunl0.rx_packets": 234})
			res.States = append(res.States, result.State{At: "route.h1", Source: links, Values: map[string]any{"tunl0.kind": "ipip"}})
		},
		"a short list of Services, and the parent": func(c *result.Cell, res *result.Result) {
			c.Network, c.Clusters, c.Path, c.Workload = "service-iptables", []string{"service-iptables"}, catalog.ClusterIP, "tcp_crr"
			kind, _ := catalog.FindNetwork(c.Network)
			parent := *c
			parent.Network, parent.Metrics = kind.Parent, []result.Metric{{Name: "throughput", Toll: &result.Toll{Value: 0.15, Verdict: "slower"}}}
			res.Cells = append(res.Cells, parent)
			reads(c, "h1", linkStats, map[string]float64{"eth0.tx_packets": 1e6})
			res.States = append(res.States, result.State{At: "service-iptables.h1", Source: rules, Values: map[string]any{"ip nat KUBE-SERVICES.rules": 5.0}})
		},
		"a tunnel alone": func(c *result.Cell, res *result.Result) { c.Network, c.Clusters = "vxlan", []string{"vxlan"} },
		"addresses rewritten": func(c *result.Cell, res *result.Result) {
			c.Network, c.Clusters = "nat", []string{"nat"}
			reads(c, "h1", rules, map[string]float64{"ip nat POSTROUTING 5 masq": 3, "ip nat POSTROUTING 6 masq": 0, "ip nat POSTROUTING 7 accept": 9, "ip filter FORWARD": 2})
		},
		"a published port": func(c *result.Cell, res *result.Result) {
			c.Network, c.Clusters, c.Path = "nat", []string{"nat"}, catalog.PublishedPort
			res.States = append(res.States, result.State{At: "nat.h2", Source: rules, Values: map[string]any{
				"ip nat PREROUTING.hook": "prerouting", "ip nat PREROUTING.rules": 3.0, "ip nat OUTPUT.hook": "output", "ip nat OUTPUT.rules": 0.0, "ip filter FORWARD.hook": "forward", "ip filter FORWARD.rules": 2.0,
			}})
		},
		"a published port without rules": func(c *result.Cell, res *result.Result) {
			c.Network, c.Clusters, c.Path = "nat", []string{"nat"}, catalog.PublishedPort
		},
		"containers that wait for the disk": func(c *result.Cell, res *result.Result) {
			c.Network, c.Path, c.Workload, c.Client, c.Server = "docker-host", "no-network", "lifecycle", nil, nil
			reads(c, "", pressure, map[string]float64{"io.some": 0.8})
			reads(c, "", cpuTimes, map[string]float64{"cpu0.busy": 0.8, "cpu0.idle": 1.2, "cpu1.busy": 0, "cpu1.idle": 2})
		},
		"containers that wait as long as counts": func(c *result.Cell, res *result.Result) {
			c.Network, c.Path, c.Workload, c.Client, c.Server = "docker-host", "no-network", "lifecycle", nil, nil
			reads(c, "", pressure, map[string]float64{"io.some": diskWaits * 4})
			reads(c, "", cpuTimes, map[string]float64{"cpu0.busy": 1, "cpu0.idle": 3})
		},
		"containers that hardly wait": func(c *result.Cell, res *result.Result) {
			c.Network, c.Path, c.Workload, c.Client, c.Server = "docker-host", "no-network", "lifecycle", nil, nil
			reads(c, "", pressure, map[string]float64{"io.some": diskWaits * 2})
			reads(c, "", cpuTimes, map[string]float64{"cpu0.busy": 1, "cpu0.idle": 3})
		},
	}
}
