package peers

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"time"

	"tare/bench/harness"
	"tare/result"
	"tare/workload"
)

//go:embed peers.yaml
var dataText string

// data is what peers.yaml holds.
type data struct {
	Programs map[string]workload.Program
	Servers  map[string]server
	Tools    map[string]tool
	Rows     []row
}

// server is the other end of a tool.
type server struct {
	Program string
	Port    int  // where it listens for the client
	Once    bool // it ends by itself after one client
	Call    string
	argv    []string
	program workload.Program
}

// tool is a way to call a program.
type tool struct {
	Program, Server string
	Way             string        // distinguishes calls of one program in a row
	Lead            time.Duration // from its start to its traffic, where that is long
	Call            string
	Read            reading
}

// row is one measure of several tools on the same path.
type row struct {
	Name, Title string
	Ends        []string // placements, the headline first
	Ours        []engine
	Peers       []called
	Claims      []claim
	subjects    []subject // tare's first
}

// called is a tool in a row.
type called struct {
	Tool   string
	Writes []int // KiB: a subject for each
	Way    string
	More   []string
}

// claim is how tare should compare in one metric of a row.
type claim struct {
	Ours   string  // the way of tare's run
	Metric string  // by its name in a result
	Than   string  // the name of the other; empty: the peer with the best median
	Bound  float64 // of the ratio tare / other: the least or, where lower is better, the most; 0: it is only shown
}

// The metrics of CPU cost.
const (
	perGbit        = "cpu_per_gbit"
	perTransaction = "cpu_per_transaction"
)

func rowName(r row) string { return r.Name }

// readData reads the data and gives each row its subjects.
func readData() (data, error) {
	var d data
	if err := harness.Data(dataText, &d); err != nil {
		return d, fmt.Errorf("read peers.yaml: %w", err)
	}
	for name, p := range d.Programs {
		p.Name = name
		d.Programs[name] = p
	}
	for name, s := range d.Servers {
		s.program, s.argv = d.Programs[s.Program], strings.Fields(s.Call)
		d.Servers[name] = s
	}
	for n := range d.Rows {
		r := &d.Rows[n]
		for _, e := range r.Ours {
			sub, err := e.subject(d.Servers[e.Server])
			if err != nil {
				return d, err
			}
			r.subjects = append(r.subjects, sub)
		}
		for _, c := range r.Peers {
			peers, err := d.peersOf(c)
			if err != nil {
				return d, fmt.Errorf("read row %s of peers.yaml: %w", r.Name, err)
			}
			r.subjects = append(r.subjects, peers...)
		}
	}
	return d, nil
}

// peersOf are the subjects of a tool in a row.
func (d data) peersOf(c called) (all []subject, err error) {
	t, known := d.Tools[c.Tool]
	if !known {
		return nil, fmt.Errorf("tool %q: unknown", c.Tool)
	}
	writes := c.Writes
	if len(writes) == 0 {
		writes = []int{0}
	}
	for _, write := range writes {
		p := subject{program: d.Programs[t.Program], server: d.Servers[t.Server], lead: t.Lead, way: t.Way, read: t.Read}
		if write > 0 {
			p.way = strings.TrimSuffix(fmt.Sprintf("%dK, %s", write, c.Way), ", ")
		}
		for word := range strings.FieldsSeq(t.Call) {
			if word == "MORE" {
				p.argv = append(p.argv, c.More...)
				continue
			}
			p.argv = append(p.argv, strings.ReplaceAll(word, "WRITE", fmt.Sprint(write<<10)))
		}
		all = append(all, p)
	}
	return all, nil
}

// choose finds rows by a comma list of their names; empty: all.
func (d data) choose(list string) (chosen []row, err error) {
	if list == "" {
		return d.Rows, nil
	}
	for _, name := range strings.Split(list, ",") {
		n := slices.IndexFunc(d.Rows, func(r row) bool { return r.Name == name })
		if n < 0 {
			return nil, fmt.Errorf("row %q: unknown: choose from %s", name, strings.Join(result.Names(d.Rows, rowName), ", "))
		}
		chosen = append(chosen, d.Rows[n])
	}
	return chosen, nil
}
