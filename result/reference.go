package result

// Reference compares a path with another of the same network, where no host is there to be the
// baseline: it is not a toll against the host.
type Reference struct {
	Network  string   `json:"network"`
	Path     string   `json:"path"`
	Against  string   `json:"against"` // the path that is the reference
	Workload string   `json:"workload"`
	Params   Params   `json:"params"`
	Metric   string   `json:"metric"`
	Value    float64  `json:"value"`         // how much worse the path is, as a ratio; positive is worse
	Low      *float64 `json:"low,omitempty"` // 95 % interval; absent below six blocks
	High     *float64 `json:"high,omitempty"`
}
