package main

import (
	"strings"
	"sync"

	"tare/catalog"
	"tare/result"
)

// places is a set of the places where a plan may be measured.
type places uint8

const (
	inLab places = 1 << iota // that is built for the plan
	inUp                     // a lab that is up: --lab
	atEndpoint
	atSSH
	atDocker
	atKubernetes

	inLabs   = inLab | inUp
	atSites  = atEndpoint | atSSH | atDocker | atKubernetes
	anywhere = inLabs | atSites
)

// siteWord is a word of --site.
type siteWord struct {
	site string
	at   places
	by   string // the flag that chooses it where --site does not
}

// siteWords are the words of --site.
func siteWords() []siteWord {
	return []siteWord{
		{result.SiteLab, inLabs, ""},
		{result.SiteEndpoint, atEndpoint, "endpoint"},
		{result.SiteSSH, atSSH, "machines"},
		{result.SiteDocker, atDocker, "docker-context"},
		{result.SiteKubernetes, atKubernetes, "context"},
	}
}

// jobs is a set of what a command may do with its flags: the ways in which `tare run` works, and the other
// verbs that share flags with it.
type jobs uint16

const (
	once jobs = 1 << iota // `tare run` without a flag that chooses another one
	ofCase
	ofChange
	soaking
	onKernels
	tracing // `tare trace` too
	checking
	diagnosing // `tare doctor`
	cleaning   // `tare clean`

	plans = once | ofChange | soaking | onKernels | tracing | checking // that take any plan
)

// The headings of the help, in their order.
const (
	forWhat      = "What to measure"
	forHow       = "How"
	forWhere     = "Where"
	forMore      = "Other ways to run"
	forOutput    = "Output"
	usualHeading = "Flags"
	ofNetworks   = "Parameters of networks"
	ofWorkloads  = "Parameters of workloads"
	ofSites      = "Parameters of sites"
)

// manyFlags is from how many flags on a command has them under headings.
const manyFlags = 40

// belonging is where flags have a meaning. Elsewhere they are refused.
type belonging struct {
	flags   string // their names, the most used first
	heading string
	at      places
	in      jobs
	chooses jobs   // the way of working that they ask for; 0: none
	instead string // what to do where the place or way of working is missing; empty: to name it, or to leave them out
}

// belongings lists all flags of `tare run`, and those of sites, which other verbs have too, in the order of
// the help. It is made once, and nothing changes it.
var belongings = sync.OnceValue(func() []belonging {
	const ofSite = once | ofChange | tracing | diagnosing
	return append([]belonging{
		{flags: "networks", heading: forWhat, at: inLabs | atDocker, in: plans},
		{flags: "paths workloads", heading: forWhat, at: anywhere, in: plans},
		{flags: "need", heading: forWhat, at: inLabs, in: plans &^ (onKernels | tracing)},
		{flags: "sweep", heading: forWhat, at: anywhere, in: plans},
		{flags: "by", heading: forWhat, at: anywhere, in: plans &^ tracing},
		{flags: "baseline", heading: forWhat, at: inLabs, in: plans &^ (onKernels | tracing)},
		{flags: "case", heading: forWhat, at: inLab, in: ofCase, chooses: ofCase},
		{flags: "kernel", heading: forWhat, at: inLab, in: onKernels, chooses: onKernels},

		{flags: "max-time", heading: forHow, at: anywhere, in: plans&^tracing | ofCase},
		{flags: "blocks duration warmup", heading: forHow, at: anywhere, in: plans | ofCase},
		{flags: "precision", heading: forHow, at: anywhere, in: plans&^(onKernels|tracing) | ofCase},
		{flags: "margin", heading: forHow, at: anywhere, in: plans&^tracing | ofCase},
		{flags: "design", heading: forHow, at: anywhere, in: plans &^ tracing},
		{flags: strings.Join(labFlags(), " "), heading: forHow, at: inLab, in: plans},
		{flags: "cc", heading: forHow, at: inLab | atSites, in: plans},
		{flags: "seed", heading: forHow, at: anywhere, in: plans | ofCase},
		{flags: "yield", heading: forHow, at: anywhere, in: once | ofChange},

		{flags: "site", heading: forWhere, at: anywhere, in: plans | diagnosing | cleaning},
		{flags: "machines", heading: forWhere, at: atSSH, in: ofSite | cleaning},
		{flags: "endpoint", heading: forWhere, at: atEndpoint, in: ofSite},
		{flags: "pairs", heading: forWhere, at: atSSH | atKubernetes, in: once | ofChange, instead: "name the machines too, as in --machines a,b,c,d"},
		{flags: "max-rate", heading: forWhere, at: atSites, in: once | ofChange | tracing, instead: "the links of a lab are its own, which nobody else needs: leave it out, or give them a rate with --link"},
		{flags: "lab", heading: forWhere, at: inUp, in: plans&^(onKernels|checking) | diagnosing},
		{flags: "load-modules", heading: forWhere, at: inLabs, in: plans},

		{flags: "check", heading: forMore, at: inLab, in: checking, chooses: checking},
		{flags: "dry-run", heading: forMore, at: anywhere, in: once | ofCase | onKernels},
		{flags: "trace folded", heading: forMore, at: anywhere, in: tracing, chooses: tracing},
		{flags: "fix-and-verify", heading: forMore, at: inLabs, in: once | ofChange},
		{flags: "before after", heading: forMore, at: anywhere, in: ofChange, chooses: ofChange},
		{flags: "max-regression", heading: forMore, at: anywhere, in: ofChange, instead: "it goes with --before and --after; of two results: tare compare OLD.json NEW.json --max-regression 3%"},
		{flags: "absolute", heading: forMore, at: anywhere, in: ofChange, instead: "it goes with --max-regression: add it, as in --max-regression 3%"},
		{flags: "every for resume", heading: forMore, at: inLabs, in: soaking, chooses: soaking},

		{flags: "out", heading: forOutput, at: anywhere, in: plans&^(ofChange|checking) | ofCase},
		{flags: "report", heading: forOutput, at: anywhere, in: once | ofChange | onKernels | ofCase},
		{flags: "tables", heading: forOutput, at: anywhere, in: once | ofChange | onKernels},
		{flags: "json", heading: forOutput, at: anywhere, in: plans&^ofChange | ofCase},
		{flags: "lang", heading: forOutput, at: anywhere, in: plans&^checking | ofCase},

		{flags: singleParam, heading: ofNetworks, at: anywhere, in: plans},
		{flags: "in", heading: ofSites, at: atSSH, in: ofSite, instead: "name the machines too, as in --machines a,b"},
		{flags: "far-path", heading: ofSites, at: atEndpoint | atSSH, in: ofSite, instead: "name the ends too, as in --endpoint h1='ssh a' or --machines a,b"},
		{flags: "docker-context docker-command", heading: ofSites, at: atDocker, in: ofSite | cleaning},
		{flags: "context namespace", heading: ofSites, at: atKubernetes, in: ofSite | cleaning},
		{flags: "nodes selector tolerations image probe-nodes", heading: ofSites, at: atKubernetes, in: ofSite},
		{flags: "pods", heading: ofSites, at: atKubernetes, in: once | ofChange | tracing},
	}, ofParameters()...)
})

// labFlags are those of what a lab is like: of its axes, and of the CPUs of its hosts. The congestion control is also
// that of a site's sockets.
func labFlags() []string {
	names := []string{"cpus"}
	for _, a := range result.PlannedAxes() {
		if a.Help != "" && a.Flag != "cc" {
			names = append(names, a.Flag)
		}
	}
	return names
}

// ofParameters are the belongings of parameters. A cluster has policies and Services too.
func ofParameters() (all []belonging) {
	for _, p := range catalog.Params() {
		one := belonging{flags: flagName(p.Name), heading: ofNetworks, at: inLab, in: plans}
		switch p.Name {
		case catalog.Policies, catalog.Services:
			one.at |= atKubernetes
		case catalog.Neighbour:
			one.in &^= tracing
		}
		all = append(all, one)
	}
	for _, p := range catalog.WorkloadParams() {
		all = append(all, belonging{flags: flagName(p.Name), heading: ofWorkloads, at: anywhere, in: plans})
	}
	return all
}

// byFlag are the belongings by the name of the flag.
var byFlag = sync.OnceValue(func() map[string]belonging {
	all := map[string]belonging{}
	for _, b := range belongings() {
		for _, name := range strings.Fields(b.flags) {
			all[name] = b
		}
	}
	return all
})

// flagsIn names the flags under a heading.
func flagsIn(heading string) (names []string) {
	for _, b := range belongings() {
		if b.heading == heading {
			names = append(names, strings.Fields(b.flags)...)
		}
	}
	return names
}

// flagName is the flag of a parameter.
func flagName(param string) string { return strings.ReplaceAll(param, "_", "-") }
