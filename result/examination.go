package result

// Examination is what was tried between two ends, and the counters and states of
// the places on the way. It is no part of a result: findings are made from it.
type Examination struct {
	Cluster  string // "vxlan", of which the places are
	Network  string
	Fidelity string // "stand-in": another data path than the network's own
	Path     string // empty: two ends of the user's choice
	Client   string // "h1/c1"
	Server   string
	Source   string   // the client's own address, where it is one of IPv6
	Dial     string   // the address at which the client reaches the server
	Places   []string // the ends and their hosts, the client's first
	NIC      string   // model of the hosts' interfaces
	MTU      int      // bytes, that the hosts' interfaces were set up with; 0: unknown
	Inner    int      // bytes that the network's headers leave of it
	Link     bool     // the hosts' interfaces were set up with a rate
	Rules    int      // firewall rules that the network was asked to have
	Port     int      // at which the server listens, and the client dials; 0: unknown

	Trials    []Trial
	States    []State   // after the trials, At as Places
	Addresses []Address // likewise
	Routes    []Route   // likewise, of one place the preferred ones first
	Policies  []Policy  // likewise; none: only the main table is used
	Readings  []Reading // from before the trials to after them, At as Places
	Unread    []Unread
}

// Diagnosis is what a doctor found, the worst first, what could not be read, and how much was looked at.
type Diagnosis struct {
	Findings []Finding `json:"findings"`
	Unread   []Unread  `json:"unread"`
	Looked   Looked    `json:"looked"`
}

// Looked is how much a diagnosis looked at.
type Looked struct {
	Paths    int `json:"paths"`
	Trials   int `json:"trials"`   // exchanges of messages
	Counters int `json:"counters"` // that moved meanwhile; of the machine, in a second
	Settings int `json:"settings"` // and other states
	Routes   int `json:"routes"`
}

// Add counts what was looked at for an examination.
func (l *Looked) Add(e Examination) {
	if len(e.Trials) > 0 {
		l.Paths++
	}
	l.Trials += len(e.Trials)
	for _, r := range e.Readings {
		l.Counters += len(r.Counts)
	}
	for _, s := range e.States {
		l.Settings += len(s.Values)
	}
	l.Routes += len(e.Routes)
}

// Trial is one exchange of messages that was tried on a path.
type Trial struct {
	Workload string             `json:"workload"`
	Size     int                `json:"size"`            // bytes of a message
	IP       int                `json:"ip,omitempty"`    // version; 0: that of the path
	Cut      bool               `json:"cut,omitempty"`   // it travels in fragments
	Idle     float64            `json:"idle,omitempty"`  // s that its connection had rested
	Error    string             `json:"error,omitempty"` // why it failed; empty: it passed
	Metrics  map[string]float64 `json:"metrics,omitempty"`
	Counters map[string]float64 `json:"counters,omitempty"` // as a sample's
	Seen     []Sighting         `json:"seen"`               // which devices saw its packets, in the order of time
}

// Sighting is a device that saw a packet.
type Sighting struct {
	At     string `json:"at"` // "h1/c1"
	Device string `json:"device"`
	Out    bool   `json:"out"`   // it left by the device; else it came in
	Reply  bool   `json:"reply"` // it came from the server
}

// SourceRoutes names the source of the routes where they are evidence.
const SourceRoutes = "ip route"
