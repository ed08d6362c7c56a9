package result

// MachinePair is one of several pairs of machines on which a plan was measured. In the result
// that all of them make, each is one block: its intervals are of such pairs, and not of one.
type MachinePair struct {
	Machines []string `json:"machines"`         // h1 and h2, as the user calls them
	Places   []Place  `json:"places"`           // there
	Cells    []Cell   `json:"cells"`            // what was measured on the pair alone
	Warnings []string `json:"warnings"`         // of them
	Reason   string   `json:"reason,omitempty"` // why it has not measured all
}
