package result

// Mesh is which of several nodes, links or groups of nodes is slow: what was measured
// between pairs of nodes, and what it amounts to. Nodes are numbered from 0, in the order of
// Nodes.
//
// An effect is a ratio, and positive is worse: 0.2 is a fifth less throughput, or a fifth more
// time, than among the others.
type Mesh struct {
	Nodes      []MeshNode       `json:"nodes"`
	Judged     []string         `json:"judged"` // the metrics by which somebody may be named
	Margin     float64          `json:"margin"` // an effect up to it is nothing; declared, a ratio
	Seed       uint64           `json:"seed"`   // of the order, and of who measures suspects again
	Rounds     []MeshRound      `json:"rounds"`
	Effects    []MeshEffect     `json:"effects"`
	Suspects   []MeshSuspect    `json:"suspects"`
	Named      []MeshNamed      `json:"named"`
	Unmeasured []MeshUnmeasured `json:"unmeasured"` // of whom too little is known to judge them
	Incast     *MeshIncast      `json:"incast,omitempty"`
}

// MeshIncast is what was measured where all other nodes send to few at once: nobody is named by
// it.
type MeshIncast struct {
	Servers int                `json:"servers"` // at once; all others are clients of one of them
	Rounds  []MeshRound        `json:"rounds"`  // all of their pairs at once
	Effects []MeshIncastEffect `json:"effects"`
}

// MeshIncastEffect is how a node serves many against how it serves one.
type MeshIncastEffect struct {
	Of      string  `json:"of"`
	Metric  string  `json:"metric"`
	N       int     `json:"n"`       // rounds in which all of its clients were measured
	Senders int     `json:"senders"` // its clients, at most
	One     float64 `json:"one"`     // the middle of its pairs, few at a time
	All     float64 `json:"all"`     // a rate: the sum of its clients; a time: their middle
	Worst   float64 `json:"worst"`   // of its clients
	Value   float64 `json:"value"`   // how much worse All is than One, a ratio
}

// MeshNode is one node.
type MeshNode struct {
	Name  string `json:"name"`
	Group string `json:"group,omitempty"` // its rack, zone or switch; empty: not known
}

// MeshRound is what was measured in one round, column by column: entry n of each list belongs
// to the same pair.
type MeshRound struct {
	Round    int                  `json:"round"`              // from 0; a round may be run both sparse and dense
	Dense    bool                 `json:"dense"`              // all of its pairs at once, else few at a time
	Check    *MeshCheck           `json:"check,omitempty"`    // where it measures a suspect again
	Clients  []int                `json:"clients"`            // by number
	Servers  []int                `json:"servers"`            // by number
	Values   map[string][]float64 `json:"values"`             // by metric, with six digits; 0: not measured
	Failures []MeshFailure        `json:"failures,omitempty"` // why not
}

// MeshCheck is a suspect and the nodes that measured it again, none of them a suspect: a block
// has its pairs with these, and theirs with each other.
type MeshCheck struct {
	Suspect  []int `json:"suspect"`  // a node, or both nodes of a link
	Partners []int `json:"partners"` // three
	Block    int   `json:"block"`    // of this suspect, from 0
}

// MeshFailure is why pairs of a round were not measured.
type MeshFailure struct {
	Reason string `json:"reason"`
	Pairs  []int  `json:"pairs"` // places in the columns
}

// The kinds of effects, and of what is suspected and named.
const (
	MeshNodeKind       = "node"           // with all partners
	MeshLink           = "link"           // between two nodes that are as the others
	MeshGroup          = "group"          // all nodes of a group, also among each other
	MeshUplink         = "uplink"         // a group's pairs with all other groups
	MeshBetween        = "between"        // pairs between two groups, or between any (no groups named), against those within
	MeshOversubscribed = "oversubscribed" // dense against sparse: a group's pairs with others, or all (no group named)
)

// MeshEffect is how much worse something is than the middle of its kind, before any suspect
// was measured again.
type MeshEffect struct {
	Kind   string   `json:"kind"`
	Of     []string `json:"of"` // names of nodes, or of groups
	Metric string   `json:"metric"`
	N      int      `json:"n"` // values that it is from
	Value  float64  `json:"value"`
	Low    *float64 `json:"low,omitempty"` // 95 % interval; absent below six values
	High   *float64 `json:"high,omitempty"`
}

// The outcomes of a suspicion.
const (
	MeshConfirmed = "confirmed" // it is named
	MeshCleared   = "cleared"   // measured again, it is no worse than the margin, or than others of its kind may be
	MeshUndecided = "undecided" // it was not measured again, or too few of its blocks are whole
)

// MeshSuspect is a node or link that differed from the others, and what became of it.
type MeshSuspect struct {
	Kind    string   `json:"kind"`
	Of      []string `json:"of"` // a node, or both nodes of a link
	Metric  string   `json:"metric"`
	Score   float64  `json:"score"`   // the robust z of its effect at first
	Outcome string   `json:"outcome"` // MeshConfirmed, MeshCleared or MeshUndecided
	Reason  string   `json:"reason,omitempty"`
	Blocks  int      `json:"blocks"` // whole ones in which it was measured again
	Value   *float64 `json:"value,omitempty"`
	Low     *float64 `json:"low,omitempty"` // 95 % interval over these blocks; absent below six
	High    *float64 `json:"high,omitempty"`
}

// MeshNamed is what is slow.
type MeshNamed struct {
	Kind     string     `json:"kind"`
	Of       []string   `json:"of"` // names of nodes or groups; empty: all pairs
	Metric   string     `json:"metric"`
	Value    float64    `json:"value"`
	Low      float64    `json:"low"` // 95 % interval
	High     float64    `json:"high"`
	Evidence []Evidence `json:"evidence"`
}

// MeshUnmeasured is a node, or the link of two nodes, that is not judged: too little of it was
// measured. It is not named as slow.
type MeshUnmeasured struct {
	Of       []string `json:"of"`
	Asked    int      `json:"asked"`    // windows
	Measured int      `json:"measured"` // of them
	Reason   string   `json:"reason"`   // the most frequent
}
