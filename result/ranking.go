package result

// Ranking orders the networks that meet what was asked for, on one path under one
// workload.
type Ranking struct {
	Path     string        `json:"path"`
	Workload string        `json:"workload"`
	Mode     string        `json:"mode"`
	Params   Params        `json:"params"`
	Metric   string        `json:"metric"`
	Ranked   []Ranked      `json:"ranked"`
	Unranked []Unqualified `json:"unranked"` // measured, or meant to be, and without a place
}

// Ranked is a network at its place. Networks that cannot be distinguished share
// one.
type Ranked struct {
	Place   int      `json:"place"` // from 1
	Network string   `json:"network"`
	Params  Settings `json:"params,omitempty"`
	Toll    Toll     `json:"toll"`
	// Behind is by how much it is worse than the first of its place, or, where it
	// opens one, than the first of the place before; absent for the very first.
	Behind *Change `json:"behind,omitempty"`
	Than   string  `json:"than,omitempty"` // the network of that comparison
}

// Unqualified is a network without a place.
type Unqualified struct {
	Network string `json:"network"`
	Reason  string `json:"reason"`
}
