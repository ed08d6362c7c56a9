package cases

import (
	"embed"
	"encoding/json"
	"fmt"
)

//go:embed published/*.json
var files embed.FS

// published is one file of published/: figures in SI units, and the article's claims
// in other words.
type published struct {
	Title      string           `json:"title"`
	Claims     []publishedClaim `json:"claims"`
	Figures    []figure         `json:"figures"`
	Recommends string           `json:"recommends"`
	Defects    []string         `json:"source_defects"`
}

type publishedClaim struct {
	Text string `json:"text"`
	Kind string `json:"kind"`
	Note string `json:"note"`
}

// figure is one published number.
type figure struct {
	Experiment  string  `json:"experiment"` // empty where the article has only one
	Network     string  `json:"network"`
	Path        string  `json:"path"`
	Workload    string  `json:"workload"`
	Metric      string  `json:"metric"`
	Of          string  `json:"of"` // of a toll: the metric
	Unit        string  `json:"unit"`
	Value       float64 `json:"value"`
	Platform    string  `json:"platform"`
	Tool        string  `json:"tool"`
	Round       int     `json:"round"`
	Size        int     `json:"message_bytes"`
	Datagram    int     `json:"datagram_bytes"`
	Connections int     `json:"connections"`
	Flows       int     `json:"flows"`
	Workers     int     `json:"workers"`
	Services    int     `json:"services"`
	Link        float64 `json:"link_bps"`
	Offered     float64 `json:"offered_bps"`
	Ceiling     float64 `json:"ceiling_bps"`
	Pinned      *bool   `json:"pinned"`
	Note        string  `json:"note"`
}

// read decodes the published file of a case.
func (c Case) read() (published, error) {
	text, err := files.ReadFile("published/" + c.ID + ".json")
	if err != nil {
		return published{}, fmt.Errorf("read published figures: %w", err)
	}
	var p published
	if err := json.Unmarshal(text, &p); err != nil {
		return published{}, fmt.Errorf("read published figures of %s: %w", c.ID, err)
	}
	return p, nil
}
