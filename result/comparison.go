package result

// Comparison compares cells with others that differ from them in one thing: in a result, those of
// one of its axes with those of another; of two results, the newer one's with the older one's.
type Comparison struct {
	Title string `json:"title"` // in English: "mtu 9000 against 1500"
	// Along is what the two sides differ in: an axis of Axes, a parameter of networks, AlongNetwork,
	// AlongPath or AlongResult.
	Along string `json:"along"`
	// Of is the value of the side that is compared, in a word: "IPv6", "9000". Of networks and
	// paths each cell has its own, and it is "each".
	Of     string         `json:"of"`
	Than   string         `json:"than"`            // the value of the other: "IPv4", "1500", "docker-host", "old.json"
	Old    Compared       `json:"old,omitzero"`    // of two results: the older one
	New    Compared       `json:"new,omitzero"`    // likewise
	Paired bool           `json:"paired"`          // the same blocks of one experiment, or the same pairs of machines
	Pairs  int            `json:"pairs,omitempty"` // of machines that both were measured on, each of which is a block
	Judged string         `json:"judged"`          // JudgedByValue, JudgedByToll where the two machines differ, JudgedByNothing
	Differ []Difference   `json:"differ"`          // the machines and how they were set up
	Cells  []ComparedCell `json:"cells"`           // that both have
	Single []SingleCell   `json:"single"`          // that one of them has measured
	Held   []Held         `json:"held"`            // what was held against the limits
	Unmet  []Unmet        `json:"unmet"`           // limits that were exceeded, or could not be held
}

// Name names the files of the two results.
func (c *Comparison) Name(old, recent string) {
	c.Old.File, c.New.File, c.Of, c.Than = old, recent, recent, old
	c.Title = recent + " against " + old
}

// What a comparison is judged by.
const (
	JudgedByValue   = "value"
	JudgedByToll    = "toll"
	JudgedByNothing = "nothing" // two paths differ by what they are, and no A/A says what of that is chance
)

// What the sides of a comparison differ in, where that is no axis and no parameter.
const (
	AlongNetwork = "network"
	AlongPath    = "path"
	AlongResult  = "result" // two results: before and after a change, two releases
)

// Each is what Of holds where each cell is compared by its own name.
const Each = "each"

// Compared names one of two results.
type Compared struct {
	File    string `json:"file"`
	ID      string `json:"id"`
	Started string `json:"started"`
	Version string `json:"version"` // of tare
}

// Difference is one thing in which the two differ.
type Difference struct {
	Name string `json:"name"`
	Old  string `json:"old"`
	New  string `json:"new"`
}

// ComparedCell is a cell that both results have.
type ComparedCell struct {
	Network  string           `json:"network"`
	Path     string           `json:"path"`
	Workload string           `json:"workload"`
	Mode     string           `json:"mode"`
	Params   Params           `json:"params"` // the newer one's
	Differ   []Difference     `json:"differ"` // parameters that are not alike: mtu, cc
	Metrics  []ComparedMetric `json:"metrics"`
}

// ComparedMetric is a metric that both cells have.
type ComparedMetric struct {
	Name    string  `json:"name"`
	Unit    string  `json:"unit"`
	Better  Better  `json:"better"`
	Old     float64 `json:"old"`
	New     float64 `json:"new"`
	OldToll *Toll   `json:"old_toll,omitempty"`
	NewToll *Toll   `json:"new_toll,omitempty"`
	// Change is that of the value, TollChange that of the value relative to its own
	// baseline; absent where there is none.
	Change     *Change `json:"change,omitempty"`
	TollChange *Change `json:"toll_change,omitempty"`
	// Again is the change on a second machine with the older kernel: what two machines differ
	// by that are alike. Of kernels alone.
	Again *Change `json:"again,omitempty"`
}

// Judged is the change that gets the verdict; nil: there is none, as of a
// host on another machine.
func (m ComparedMetric) Judged(by string) *Change {
	if by == JudgedByToll {
		return m.TollChange
	}
	return m.Change
}

// Change is a ratio of new to old less one, positive is worse, with its 95 %
// interval: absent where there were too few blocks.
type Change struct {
	Value   float64  `json:"value"`
	Low     *float64 `json:"low,omitempty"`
	High    *float64 `json:"high,omitempty"`
	Verdict string   `json:"verdict"`
	Margin  float64  `json:"margin"`
}

// SingleCell is a cell that only one result has measured.
type SingleCell struct {
	Cell   string `json:"cell"`   // "vxlan cross-host tcp_rr"
	In     string `json:"in"`     // "old" or "new"
	Reason string `json:"reason"` // why the other has not; empty: unknown
}

// Held is what was held against a limit.
type Held struct {
	Gate   string  `json:"gate"` // "max-toll" or "max-regression"
	Cell   string  `json:"cell"`
	Metric string  `json:"metric"`
	Limit  float64 `json:"limit"`
	Value  float64 `json:"value"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Met    bool    `json:"met"`
}

// Unmet is a limit that was exceeded by the whole interval, or that could not be held
// against what the newer result lacks.
type Unmet struct {
	Gate   string  `json:"gate"`
	Cell   string  `json:"cell"` // or a network; empty: nothing was compared
	Metric string  `json:"metric"`
	Limit  float64 `json:"limit"`
	Value  float64 `json:"value"`
	Low    float64 `json:"low"`
	Reason string  `json:"reason,omitempty"` // why it could not be held
	// Unknown is set where both results have it, and too little of it to be held: it is not
	// known whether the limit is broken.
	Unknown bool `json:"unknown,omitempty"`
}
