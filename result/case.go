package result

// Case is a published measurement, and what was measured here for it.
type Case struct {
	ID          string           `json:"id"`
	Title       string           `json:"title"`
	Experiments []CaseExperiment `json:"experiments"`
	Claims      []Claim          `json:"claims"`
	Figures     []Figure         `json:"figures"`
	Odd         []string         `json:"odd"`        // published figures and claims that contradict each other
	Defects     []string         `json:"defects"`    // of the source, as its readers found them
	Recommends  string           `json:"recommends"` // what the article does; empty: nothing
	Ours        string           `json:"ours"`       // what tare recommends on this machine; empty: nothing
	Because     string           `json:"because"`
}

// CaseExperiment is one experiment of a case: the plan that repeats it.
type CaseExperiment struct {
	Name string `json:"name"`
	Doc  string `json:"doc"`
	Plan Plan   `json:"plan"`
}

// The verdicts on a claim.
const (
	ClaimReproduced    = "reproduced"
	ClaimNotReproduced = "not reproduced"
	ClaimUntestable    = "cannot be tested here"
)

// Claim is a sentence of the article, and the verdict on it here.
type Claim struct {
	Text    string `json:"text"`
	Kind    string `json:"kind"` // "stated", "inferred", "conjectured", "open question"
	Note    string `json:"note,omitempty"`
	Verdict string `json:"verdict"`
	Because string `json:"because"` // the numbers, or what is missing
}

// Figure is one published number, and what was measured here for it. A toll is
// against a network of the same table, positive is worse.
type Figure struct {
	Experiment string   `json:"experiment"`
	Network    string   `json:"network"` // as published
	As         string   `json:"as"`      // the network that was measured here in its place
	Path       string   `json:"path"`    // that was measured here
	Workload   string   `json:"workload"`
	Metric     string   `json:"metric"`
	Unit       string   `json:"unit"`
	Setting    string   `json:"setting"`        // what else distinguishes it: "64 bytes, kunpeng-920"
	Size       int      `json:"size,omitempty"` // bytes of a message, where it is one of several
	Published  *float64 `json:"published,omitempty"`
	Measured   *float64 `json:"measured,omitempty"`
	Fidelity   string   `json:"fidelity"` // a stand-in where either network of the toll is one
	Against    string   `json:"against"`  // as published: what the tolls are computed against; empty: this is it
	// The tolls; where a link sets the figures, Ceiling holds both shares of it.
	PublishedToll *float64       `json:"published_toll,omitempty"`
	Toll          *Change        `json:"toll,omitempty"`
	Ceiling       *CeilingShares `json:"ceiling,omitempty"`
	Reason        string         `json:"reason"` // why nothing was measured
}

// CeilingShares are the parts of what the wire can carry that were reached.
type CeilingShares struct {
	Published float64  `json:"published"`
	Framing   float64  `json:"framing,omitempty"` // share of the host's ceiling that the network's own headers take
	Measured  *float64 `json:"measured,omitempty"`
}
