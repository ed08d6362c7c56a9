package main

// plan is what is weighed in both designs.
type plan struct {
	title string
	flags []string
	// added names a network whose difference in the round trip is shown, in us; empty:
	// none is.
	added string
}

// plans are those of docs/resolution.md.
func plans() []plan {
	return []plan{
		{title: "The quick plan"},
		{title: "Every network between hosts, round trips", flags: []string{"--networks", "all", "--paths", "cross-host", "--workloads", "tcp_rr"}},
		{title: "Both ends on one CPU", flags: []string{"--networks", "route", "--paths", "cross-host", "--workloads", "tcp_rr", "--pin", "same"}, added: "route"},
	}
}
