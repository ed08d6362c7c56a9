package result

// Trace is what was seen by following a cell's packets. Following slows packets, so
// it has separate passes: the clean figure is that of passes without it, in the same
// blocks.
type Trace struct {
	Tier     int       `json:"tier"`               // 0: counters only, 1: hops and losses, 2: CPU by layer too
	Lacks    []string  `json:"lacks"`              // what a higher tier would take
	Metric   string    `json:"metric,omitempty"`   // that Clean and Traced are of
	Clean    float64   `json:"clean,omitempty"`    // over the clean windows
	Traced   float64   `json:"traced,omitempty"`   // over the traced windows, by the workload's own clock
	Overhead float64   `json:"overhead,omitempty"` // of tracing: a ratio, positive is worse
	Ways     uint64    `json:"ways"`               // that packets were followed on to the end and added up: round trips, where requests are answered
	Mean     float64   `json:"mean"`               // s: of the middle fifth of the ways, by how long each took
	Sum      float64   `json:"sum"`                // s: of the hops' means over the same ways
	Hops     []Hop     `json:"hops"`
	Tolls    []HopToll `json:"tolls,omitempty"` // against the baseline's hops; absent where the round trip is no longer than the baseline's
	Ledger   *Ledger   `json:"ledger,omitempty"`
	CPU      *CPUUse   `json:"cpu,omitempty"`
}

// Hop is one leg of a packet's way, in s.
type Hop struct {
	Name      string   `json:"name"`
	Direction string   `json:"direction"` // "request" or "response"
	At        string   `json:"at"`        // "h1/c1"
	Device    string   `json:"device,omitempty"`
	Visits    float64  `json:"visits"`          // for each way
	Mean      float64  `json:"mean"`            // for each way, traced
	P50       float64  `json:"p50"`             // of a visit, traced
	P99       float64  `json:"p99"`             // of a visit, traced
	Share     float64  `json:"share"`           // of all hops, a ratio
	Clean     *float64 `json:"clean,omitempty"` // its share of the clean figure; absent where that is no time
}

// HopToll is what the hops of a name take of a toll, in s.
type HopToll struct {
	Name     string  `json:"name"`
	Value    float64 `json:"value"`    // for each way, traced
	Baseline float64 `json:"baseline"` // the same of the baseline
	Share    float64 `json:"share"`    // of the difference of all hops, a ratio
	Delta    float64 `json:"delta"`    // its share of the toll without the tracer
}

// Ledger is where the packets were lost that did not arrive.
type Ledger struct {
	Lost     *uint64 `json:"lost,omitempty"` // by the workload's own count; absent where it has none
	Found    uint64  `json:"found"`          // packets of the workload whose end was seen
	Losses   []Loss  `json:"losses"`
	Others   []Loss  `json:"others"`   // packets that are not the workload's, or that nobody waits for
	Counters []Count `json:"counters"` // of the kernel, that show lost packets which were not seen
}

// Loss is packets that were lost in the same way.
type Loss struct {
	Reason   string `json:"reason"` // the kernel's (enum skb_drop_reason)
	At       string `json:"at"`
	Device   string `json:"device,omitempty"`
	Function string `json:"function"` // of the kernel that dropped them
	Packets  uint64 `json:"packets"`
}

// Count is what a counter of the kernel grew by.
type Count struct {
	Name  string `json:"name"` // "TcpExt.ListenOverflows"
	At    string `json:"at"`
	Value int64  `json:"value"`
}

// CPUUse is where the CPUs spent their time while packets were sent.
type CPUUse struct {
	Samples  uint64  `json:"samples"` // in the lab's processes and in the network's softirqs
	CPUs     float64 `json:"cpus"`    // busy with it on average
	Layers   []Share `json:"layers"`
	Kinds    []Share `json:"kinds"`
	Contexts []Share `json:"contexts"`
}

// KindLockWait is the kind of CPU time in which a CPU waits for another's lock.
const KindLockWait = "waiting for a lock"

// Share is a part of a whole.
type Share struct {
	Name  string  `json:"name"`
	Share float64 `json:"share"`
}
