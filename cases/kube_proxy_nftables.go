package cases

import (
	"strconv"
	"strings"

	"tare/catalog"
	"tare/result"
)

// The modes of kube-proxy.
const (
	byIptables = "service-iptables"
	byNftables = "service-nftables"
)

// Where among the rules of all Services that of the measured one is: the percentiles that were
// published are over Services.
const (
	best    = "first"
	average = "middle"
	worst   = "last"
)

// kubeProxyNftables is kube-proxy's two modes with 5,000 to 30,000 Services. The article has
// the latency of a connection's first packet; here it is that of the whole connection.
func kubeProxyNftables() Case {
	return Case{
		ID: "kube-proxy-nftables", Doc: "Services of Kubernetes by iptables and by nftables, up to 30,000",
		Experiments: []Experiment{{"services", "a new connection to a Service that is the first, the middle or the last of many", result.Plan{
			Networks: manyServices(), Paths: []string{catalog.ClusterIP}, Workloads: []result.WorkloadPlan{{Name: "tcp_crr"}}, Blocks: 10, Duration: 0.3,
		}}},
		Place: func(f figure, s *spot) {
			at := map[string]string{"p01": best, "p50": average, "p99": worst}[strings.TrimPrefix(f.Metric, "first_packet_")]
			s.metric, s.params = "rtt_p50", amongServices(f.Services, at)
		},
		Claims:     kubeProxyClaims(),
		Candidates: []spot{connecting(byIptables, 30_000, average), connecting(byNftables, 30_000, average)},
	}
}

// manyServices are the baseline, and each mode with each number of Services at each place.
func manyServices() []result.NetworkPlan {
	plans := result.NetworksNamed(catalog.Baseline)
	for _, mode := range []string{byIptables, byNftables} {
		for _, services := range []int{5000, 10_000, 30_000} {
			for _, at := range []string{best, average, worst} {
				plans = append(plans, result.NetworkPlan{Name: mode, Params: amongServices(services, at)})
			}
		}
	}
	return plans
}

func amongServices(services int, at string) result.Settings {
	return result.MakeSettings(map[string]string{"services": strconv.Itoa(services), "service_at": at})
}

// connecting is the time of a new connection.
func connecting(mode string, services int, at string) spot {
	return spot{experiment: "services", network: mode, path: catalog.ClusterIP, workload: "tcp_crr", metric: "rtt_p50", params: amongServices(services, at)}
}

func kubeProxyClaims() []claim {
	const few, more, many = 5000, 10_000, 30_000
	return []claim{
		{text: "by iptables the latency of a first packet grows with the number of Services", judge: every(
			worse(connecting(byIptables, more, average), connecting(byIptables, few, average)), worse(connecting(byIptables, many, average), connecting(byIptables, more, average)))},
		{text: "by iptables it is mostly determined by whether a Service is earlier or later in the list", judge: worse(connecting(byIptables, many, worst), connecting(byIptables, many, best))},
		{text: "by nftables it is more or less constant regardless of the number of Services", judge: alike(connecting(byNftables, many, average), connecting(byNftables, few, average))},
		{text: "by nftables best, average and worst are very similar", judge: every(
			alike(connecting(byNftables, many, average), connecting(byNftables, many, best)), alike(connecting(byNftables, many, worst), connecting(byNftables, many, average)))},
		{text: "with 5,000 and 10,000 Services the average by nftables is about the best by iptables", judge: every(
			alike(connecting(byNftables, few, average), connecting(byIptables, few, best)), alike(connecting(byNftables, more, average), connecting(byIptables, more, best)))},
		{text: "with 30,000 Services the worst by nftables beats the best by iptables by a few microseconds", judge: worse(connecting(byIptables, many, best), connecting(byNftables, many, worst))},
	}
}
