package result

// Plan is what an experiment does, as plain data: it looks at no machine.
// In YAML a network or a workload may be written as its bare name, and times
// and rates with their units ("60ms", "10gbit"); in JSON both are numbers in
// SI units.
type Plan struct {
	Name      string         `json:"name,omitempty" yaml:"name,omitempty"`
	Networks  []NetworkPlan  `json:"networks" yaml:"networks"`
	Paths     []string       `json:"paths" yaml:"paths"`
	Workloads []WorkloadPlan `json:"workloads" yaml:"workloads"`

	// Axes are what the hosts and their links are like: every network runs with each value. In
	// YAML each is a key of the plan, as in mtu: [1500, 9000].
	Axes     PlanAxes          `json:"axes" yaml:"-"`
	EncapNIC []string          `json:"encap_nic,omitempty" yaml:"encap_nic,omitempty"` // encapsulating networks run under these too
	CPUs     map[string]string `json:"cpus,omitempty" yaml:"cpus,omitempty"`           // host -> CPU list as "0-3,8", where the plan chooses them

	// Site is where the ends are that tare did not build (SiteEndpoint, SiteSSH, SiteDocker, SiteKubernetes); empty: in a lab.
	Site string `json:"site,omitempty" yaml:"site,omitempty"`

	// Reference is the path that the others are held against, where no host of the site is there to
	// be the baseline; tare writes it.
	Reference string `json:"reference,omitempty" yaml:"reference,omitempty"`

	// By is what cells are compared along besides: axes, and parameters of networks, of which the
	// plan has several values.
	By []string `json:"by,omitempty" yaml:"by,omitempty"`

	// Baseline is the network that the others are compared with, besides the host.
	Baseline string `json:"baseline,omitempty" yaml:"baseline,omitempty"`

	Kernels []string `json:"kernels,omitempty" yaml:"kernels,omitempty"` // files, or "host": each in a virtual machine, which take turns; the others are weighed against the first

	Design    string  `json:"design,omitempty" yaml:"design,omitempty"` // DesignSlots or DesignWindows; empty, as in older results: DesignWindows
	Blocks    int     `json:"blocks" yaml:"blocks"`
	Looks     bool    `json:"looks,omitempty" yaml:"looks,omitempty"` // Blocks is the mean: a cell that is decided leaves its time to the others
	Warmup    Seconds `json:"warmup" yaml:"warmup"`
	Duration  Seconds `json:"duration" yaml:"duration"`                       // of a window
	Precision float64 `json:"precision,omitempty" yaml:"precision,omitempty"` // stop early when every toll's interval is this narrow
	MaxTime   Seconds `json:"max_time,omitempty" yaml:"max_time,omitempty"`   // 0: no bound
	// MaxRate is what a run may send between machines on average over more than 10 s, where they
	// are a site's; 0: as much as it can.
	MaxRate BitsPerSecond `json:"max_rate,omitempty" yaml:"max_rate,omitempty"`

	Margin float64 `json:"margin" yaml:"margin"`       // tolls smaller than this do not matter
	Seed   uint64  `json:"seed" yaml:"seed,omitempty"` // of the order; 0: drawn when the run starts

	// Sweep is the axis or parameter whose growth is asked for; those of networks are fitted
	// without it too.
	Sweep string `json:"sweep,omitempty" yaml:"sweep,omitempty"`

	// Needs are what was asked of the networks; they are ranked then.
	Needs []string `json:"needs,omitempty" yaml:"needs,omitempty"`

	// Case is the published measurement that this repeats: all of its experiments,
	// whose own plans are in the result's case.
	Case string `json:"case,omitempty" yaml:"case,omitempty"`

	// Skipped holds what "all" left out and why; the tool writes it.
	Skipped []SkippedNetwork `json:"skipped,omitempty" yaml:"-"`
}

// The sites: where the ends are.
const (
	SiteLab        = "lab"        // that tare builds
	SiteEndpoint   = "endpoint"   // where commands of the user's reach
	SiteSSH        = "ssh"        // machines that ssh reaches
	SiteDocker     = "docker"     // one Docker engine or two
	SiteKubernetes = "kubernetes" // nodes of a cluster
)

// The designs: how the cells of a group take turns.
const (
	DesignSlots   = "slots"   // every few milliseconds, on connections that stay open for a block
	DesignWindows = "windows" // once in each block, on new connections
)

// NetworkPlan is one network of a plan; a zero Link means the plan's own. The
// same network may be there more than once with other parameters.
type NetworkPlan struct {
	Name   string        `json:"name" yaml:"name"`
	Link   BitsPerSecond `json:"link,omitempty" yaml:"link,omitempty"`
	Params Settings      `json:"params,omitempty" yaml:"params,omitempty"`
}

// WorkloadPlan is one workload of a plan with its parameters; a zero means
// the workload's own default.
type WorkloadPlan struct {
	Name    string `json:"name" yaml:"name"`
	Mode    string `json:"mode,omitempty" yaml:"mode,omitempty"`
	Server  string `json:"server,omitempty" yaml:"server,omitempty"` // nginx, mariadb, redis-server, unbound; tare: ours. Empty: the real one where it is here
	Tool    string `json:"tool,omitempty" yaml:"tool,omitempty"`     // what drives it: wrk, sysbench; tare: the engine
	Flows   int    `json:"flows,omitempty" yaml:"flows,omitempty"`   // connections at the same time
	Size    int    `json:"size,omitempty" yaml:"size,omitempty"`     // bytes of a message or datagram
	Sizes   string `json:"sizes,omitempty" yaml:"sizes,omitempty"`   // of a sweep, as 8:256K:*2
	Rate    Rate   `json:"rate,omitzero" yaml:"rate,omitempty"`      // payload bits, packets, transactions or requests per second
	Bytes   int64  `json:"bytes,omitempty" yaml:"bytes,omitempty"`   // of payload, after which the run ends before its duration
	Reverse bool   `json:"reverse,omitempty" yaml:"reverse,omitempty"`
	Bidir   bool   `json:"bidir,omitempty" yaml:"bidir,omitempty"`
	CC      string `json:"cc,omitempty" yaml:"cc,omitempty"` // TCP congestion control of the sockets; the plan's where empty

	// Explains says that nobody asked for it: it is measured since the toll of another is explained by it.
	Explains bool `json:"explains,omitempty" yaml:"explains,omitempty"`
}

// SkippedNetwork is a network that "all" would include but that cannot run here.
type SkippedNetwork struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// BitsPerSecond is a rate.
type BitsPerSecond float64

// Seconds is a time span.
type Seconds float64
