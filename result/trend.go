package result

// Trend is how the cells of several results go on over time: of the rounds of a soak, or of
// separate runs. It is no part of a result.
type Trend struct {
	Results  []TrendResult `json:"results"`  // in the order of time
	Left     []TrendLeft   `json:"left_out"` // results that can't be compared with the newest
	Judged   string        `json:"judged"`   // JudgedByValue, or JudgedByToll where the machines are not all alike
	Cells    []TrendCell   `json:"cells"`    // of the newest result
	Changes  []TrendChange `json:"changes"`
	Growths  []TrendGrowth `json:"growths"`
	Compared Comparison    `json:"compared"` // the newest result with the first
}

// TrendResult is one of the results.
type TrendResult struct {
	Compared
	Round  int          `json:"round,omitempty"` // of a soak, from 1
	Differ []Difference `json:"differ"`          // from the machine and set-up of the result before it
	Notes  []string     `json:"notes"`           // what disturbed a soak: rounds that are left out, a suspended machine, a clock that was set
}

// TrendLeft is a result that is left out.
type TrendLeft struct {
	File   string `json:"file"`
	Reason string `json:"reason"`
}

// TrendCell is the headline metric of a cell over the results.
type TrendCell struct {
	Network  string       `json:"network"`
	Path     string       `json:"path"`
	Workload string       `json:"workload"`
	Mode     string       `json:"mode"`
	Params   Params       `json:"params"`
	Metric   string       `json:"metric"`
	Unit     string       `json:"unit"`
	Better   Better       `json:"better"`
	Values   []*float64   `json:"values"`           // by result; null: it has none
	Tolls    []*TrendToll `json:"tolls"`            // by result; null: it has none
	Change   *Change      `json:"change,omitempty"` // of the newest compared with the first, as Judged says; absent where one has none
}

// TrendToll is a toll of one result.
type TrendToll struct {
	Value float64  `json:"value"`
	Low   *float64 `json:"low,omitempty"`
	High  *float64 `json:"high,omitempty"`
}

// TrendChange is a time at which something changed its level for longer.
type TrendChange struct {
	At     int           `json:"at"`     // the first result after it, by its place
	Before string        `json:"before"` // when the last result before it began, RFC 3339
	After  string        `json:"after"`  // when the first after it began
	Of     string        `json:"of"`     // ChangeOfMachine, ChangeOfNetwork, ChangeOfBoth
	Series []TrendStep   `json:"series"` // what changed, the largest first
	Beside []TrendBeside `json:"beside"` // what else is otherwise since
	Unread []string      `json:"unread"` // what is not known about that
}

// What a change is of: where the host's own figures changed, the machine did; where a toll did, a network.
const (
	ChangeOfMachine = "machine"
	ChangeOfNetwork = "network"
	ChangeOfBoth    = "both"
)

// TrendStep is the step of one cell.
type TrendStep struct {
	Cell   string  `json:"cell"` // "vxlan cross-host tcp_rr"
	Metric string  `json:"metric"`
	Of     string  `json:"of"` // JudgedByValue, JudgedByToll
	At     int     `json:"at"` // the first result after it, by its place
	Change Change  `json:"change"`
	Chance float64 `json:"chance"` // of as clear a change somewhere, were there none
}

// The kinds of what changed beside.
const (
	BesideLog     = "kernel log"
	BesideCounter = "counter"
	BesideCame    = "finding came"
	BesideWent    = "finding went"
	BesideFact    = "fact"
	BesideSoak    = "soak"
)

// TrendBeside is one thing that is otherwise since a change. It need not be its cause.
type TrendBeside struct {
	Kind   string `json:"kind"`
	At     string `json:"at,omitempty"` // a place of the lab, or when it was logged
	Source string `json:"source,omitempty"`
	Name   string `json:"name"`
	Old    string `json:"old,omitempty"`
	New    string `json:"new,omitempty"`
}

// TrendGrowth is a quantity that grows from result to result.
type TrendGrowth struct {
	Name   string  `json:"name"` // "tracked-connections", "fdb-entries", "neighbour-entries", "kernel-memory", "used-memory"
	Source string  `json:"source"`
	Unit   string  `json:"unit"`
	First  float64 `json:"first"`
	Last   float64 `json:"last"`
	Slope  float64 `json:"slope"`  // from one result to the next
	Chance float64 `json:"chance"` // of as steady a growth, were there none
}
