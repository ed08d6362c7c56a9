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
	Experiment string               `yaml:"experiment"`
	Network    string               `yaml:"network"`
	Path       string               `yaml:"path"`
	Workload   string               `yaml:"workload"`
	Metric     string               `yaml:"metric"`
	Size       int                  `yaml:"size"`   // bytes, of a sweep; 0: of the cell
	Link       result.BitsPerSecond `yaml:"link"`   // 0: whatever the experiment has
	Params     result.Settings      `yaml:"params"` // of the network; empty: whatever it has
}

// or is the spot with what another one has where this one leaves it open. The host has no
// parameters.
func (s spot) or(other spot) spot {
	if s.Network == catalog.Baseline {
		other.Params = ""
	}
	return spot{
		cmp.Or(s.Experiment, other.Experiment), cmp.Or(s.Network, other.Network), cmp.Or(s.Path, other.Path), cmp.Or(s.Workload, other.Workload),
		cmp.Or(s.Metric, other.Metric), cmp.Or(s.Size, other.Size), cmp.Or(s.Link, other.Link), cmp.Or(s.Params, other.Params),
	}
}

// host is what the spot is weighed against.
func (s spot) host() spot { return spot{Network: catalog.Baseline}.or(s) }

// String is for people: "throughput of vxlan, cross-host, 64 bytes".
func (s spot) String() string {
	text := fmt.Sprintf("%s of %s", s.Metric, s.Network)
	if s.Params != "" {
		text += " " + s.Params.String()
	}
	text += ", " + s.Path + sized(s)
	if s.Link > 0 {
		text += ", over " + s.Link.String()
	}
	return text
}

// sweep is the workload that visits message sizes.
const sweep = "tcp_sizes"

// toll is the name of a published ratio.
const toll = "toll"

// spotOf is where the like of a figure is measured here: under the names of this program, and where the
// figure's file says so.
func (c Case) spotOf(f figure) spot {
	s := spot{
		Experiment: cmp.Or(f.Experiment, c.Experiments[0].Name), Network: catalog.NetworkPublishedAs(f.Network), Path: f.Path,
		Workload: f.Workload, Metric: cmp.Or(f.Of, f.Metric),
	}
	if f.Size > 0 && strings.HasPrefix(s.Workload, "tcp_") {
		s.Workload, s.Size = sweep, f.Size
		if s.Metric != "throughput" {
			s.Metric = "rtt_p50"
		}
	}
	return f.As.or(s)
}
