package cases

import (
	"cmp"
	"fmt"
	"strings"

	"tare/catalog"
	"tare/result"
)

// spot is one quantity of one cell of one experiment.
type spot struct {
	experiment string
	network    string
	path       string
	workload   string
	metric     string
	size       int                  // bytes, of a sweep; 0: of the cell
	link       result.BitsPerSecond // 0: whatever the experiment has
	params     result.Settings      // of the network; empty: whatever it has
}

// on is the same of another network.
func (s spot) on(name string) spot { s.network = name; return s }

// along is the same on another path.
func (s spot) along(path string) spot { s.path = path; return s }

// of is another quantity of the same cell.
func (s spot) of(metric string) spot { s.metric = metric; return s }

// with is the same under another workload.
func (s spot) with(workload string) spot { s.workload = workload; return s }

// at is the same of messages of so many bytes.
func (s spot) at(size int) spot { s.size = size; return s }

// over is the same over a link of so many bit/s.
func (s spot) over(link result.BitsPerSecond) spot { s.link = link; return s }

// host is what the spot is weighed against.
func (s spot) host() spot {
	s.params = ""
	return s.on(catalog.Baseline)
}

// String is for people: "throughput of vxlan, cross-host, 64 bytes".
func (s spot) String() string {
	words := []string{fmt.Sprintf("%s of %s %s, %s", s.metric, s.network, s.params, s.path)}
	if s.size > 0 {
		words = append(words, bytesText(s.size))
	}
	if s.link > 0 {
		words = append(words, "over "+s.link.String())
	}
	return strings.ReplaceAll(strings.Join(words, ", "), " ,", ",")
}

func bytesText(n int) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}

// names gives the network here that is measured for each published one.
func names() map[string]string {
	return map[string]string{
		"calico":        "bgp",
		"calico-bgp":    "bgp",
		"openshift-ovs": "ovs-multitable",
		"rama":          "bridge-vlan",
		"rama-macnat":   "macnat",
		"havs-vlan":     "havs",
		"weave":         "tun-udp",
	}
}

// workloads gives the workload here that is measured for each published one.
func workloads() map[string]string { return map[string]string{"mysql_point_select": "mysql"} }

// metrics gives the metric here that is measured for each published one. qperf's
// one-way latency is half a round trip, and the ratio of halves is that of the whole.
func metrics() map[string]string {
	return map[string]string{"throughput_steady": "throughput", "latency_one_way": "rtt_mean"}
}

// sweep is the workload that visits message sizes.
const sweep = "tcp_sizes"

// spotOf is where the like of a figure is measured here.
func (c Case) spotOf(f figure) spot {
	s := spot{
		experiment: f.Experiment, network: cmp.Or(names()[f.Network], f.Network), path: f.Path,
		workload: cmp.Or(workloads()[f.Workload], f.Workload), metric: cmp.Or(metrics()[f.Metric], f.Metric),
	}
	if f.Metric == toll {
		s.metric = f.Of
	}
	s.experiment = cmp.Or(s.experiment, c.Experiments[0].Name)
	if f.Size > 0 && strings.HasPrefix(s.workload, "tcp_") {
		s.workload, s.size = sweep, f.Size
		if s.metric != "throughput" {
			s.metric = "rtt_p50"
		}
	}
	if c.Place != nil {
		c.Place(f, &s)
	}
	return s
}

// toll is the name of a published ratio.
const toll = "toll"
