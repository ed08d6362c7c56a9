package main

import (
	"fmt"
	"strings"
)

// part is a part of the deep tier.
type part struct {
	name    string
	doc     string
	inputs  []string // folders and files that it depends on, with all that is in them
	code    []string // folders that it depends on, without their tests and documents
	crowd   bool     // others of the crowd may run beside it, one for each CPU: it waits, or takes one CPU at most, and looks at its own labs only
	asked   bool     // CI leaves it out where it is due: make deep runs it, all of it or this part by name
	command string   // for bash; it fails where a test fails or is skipped
}

// running is the code that most runs of tare go through.
var running = []string{"cmd/tare", "experiment", "site", "agent", "lab"}

// allParts are those that `make deep` runs: first the crowd, in this order, of which those first that wait or take longest.
// What a part depends on is a judgement: a change elsewhere that breaks it is found by `make deep`.
func allParts() []part {
	return []part{
		guest("vm-newest", "the newest kernel of Debian's next release", "newest").uses("network", "engine", "lab", "trace", "probe", "diagnose", "agent"),
		guest("vm-backports", "the newest kernel for this release of Debian", "backports").uses("lab", "trace").whenAsked(), // CI tries the newest
		guest("vm-stable", "the kernel of this release of Debian", "stable").uses("lab", "trace").whenAsked(),
		{
			name: "kubernetes", doc: "clusters of real kubelets, weighed, examined and broken",
			inputs: []string{"test/kubernetes"}, code: []string{"site", "agent", "weigh/mesh", "diagnose", "cmd/tare"},
			command: "CGO_ENABLED=0 parts/build test/kubernetes; go -C test/kubernetes vet ./...; " +
				"go -C test/kubernetes " + strings.TrimPrefix(passing, "go ") + " -parallel 3 -run '^TestReal' ./... | go run ./test/verdict",
		},
		tests("mutants", "how many changes of the statistics, rules and readers no test notices", "./test/mutants").
			and("stats", "weigh", "wire", "foreign", "diagnose", "firewall", "experiment/schedule").crowded(),
		{
			name: "vm-kernels", doc: "one kernel against another: tare run --kernel",
			inputs: []string{"test/vm/kernels"}, code: []string{"vm", "experiment/kernels"}, crowd: true,
			command: ".ci/packages vm; TARE_KERNELS=$(.ci/kernels stable backports) " + passing + " -run '^TestVM' ./test/vm/kernels | go run ./test/verdict",
		},
		tests("recipes", "who follows CONTRIBUTING adds a network, a workload, a rule and more", "./test/recipes").
			and("CONTRIBUTING.md", "network/kinds/kinds.go", "workload/workload.go", "diagnose/diagnose.go", "probe/probe.go", "foreign/foreign.go", "result/axis.go").crowded(),
		{
			name: "race", doc: "the packages whose goroutines share the most, under the race detector",
			inputs:  []string{"agent", "result", "experiment", "site", "test/verdict", "test/simtest"},
			crowd:   true,
			command: "CGO_ENABLED=1 " + passing + " -race -skip '^Test(Lab|Real|Deep|VM)' ./agent ./result ./experiment/... ./site/... ./test/verdict | go run ./test/verdict",
		},
		tests("release", "a release is the same each time, and its package installs what it says", "./test/release").
			and("Makefile", "cmd/tare/nfpm.yaml", "cmd/tare/man.go", "cmd/tare/completion.go").crowded(),
		tests("statistics", "statistics by simulation", "./weigh", "./weigh/mesh", "./stats").crowded(),
		tests("scripts", "runs of the command line that take long, or ask for numbers", "./test/cli").
			uses("weigh", "workload").uses(running...),
		tests("documents", "what the documents show is what tare prints", "./test/docs").
			uses("report", "weigh", "workload", "cases").uses(running...).and("docs", "README.md", "examples"),
		tests("chaos", "what goes wrong at a random moment leaves nothing behind", "./test/chaos").
			uses("engine").uses(running...),
		tests("networks", "all networks weighed in one lab, links of a rate, and many hosts", "./network/kinds", "./test/everything").
			uses("network", "engine", "workload").uses(running...),
		tests("diagnosis", "faults that are injected are named", "./bench/diagnosis").
			uses("diagnose", "probe", "trace", "network", "engine").uses(running...).and("bench/main.go", "bench/harness"),
		tests("runs", "a run's traces, and runs by simulation", "./experiment").
			uses("agent", "trace", "probe", "weigh", "stats", "test/simtest"),
		tests("engine", "the engine's windows, rates and CPU time", "./traffic", "./traffic/dns", "./traffic/grpc",
			"./traffic/http", "./traffic/tcpstream", "./traffic/udp", "./agent", "./workload").uses("lab"),
		tests("iperf3", "both ends of iperf3's protocol against iperf3", "./iperf3").uses("traffic"),
		tests("agreement", "what is known from outside, weighed", "./test/agreement").
			uses("weigh", "stats", "traffic", "workload").uses(running...),
		tests("peers", "the engine beside other tools", "./bench/peers", "./bench/mesh", "./bench/harness").uses("traffic", "weigh/mesh"),
		tests("storm", "what a storm of connections takes from a server", "./test/hostile").uses("traffic", "agent"),
		tests("page", "how fast the page of a large result is there", "./report"),
		{
			name: "speed", doc: "benchmarks, compared with those kept last on this model of CPU; KEEP=1 keeps these",
			inputs: []string{"bench/speed"}, code: []string{"traffic", "probe", "site", "weigh", "stats", "foreign", "report"},
			command: "bench/speed",
		},
	}
}

// first lets what follows have most of one CPU, whatever runs beside it, where the kernel groups
// processes by session (sched_autogroup_enabled): where a guest gets a tenth, a round trip takes seconds.
const first = `[[ ! -w /proc/self/autogroup ]] || echo -10 >/proc/self/autogroup; `

// passing is how a part's tests are run. What takes longer hangs.
const passing = "go test -count=1 -vet=off -ldflags='-s -w' -timeout 30m -json"

// tests is the part of the deep tests of packages, each of which is an input.
func tests(name, doc string, packages ...string) part {
	p := part{name: name, doc: doc, command: fmt.Sprintf("%s -p 1 -run '^TestDeep' %s | go run ./test/verdict", passing, strings.Join(packages, " "))}
	for _, folder := range packages {
		p.inputs = append(p.inputs, strings.TrimPrefix(folder, "./"))
	}
	return p
}

// guest is the part of the tests in a virtual machine with a kernel of Debian's.
func guest(name, doc, release string) part {
	return part{
		name: name, doc: "networks that other kernels have, and what is killed there: " + doc, crowd: true,
		inputs: []string{"test/vm/guest", "test/chaos"}, code: []string{"vm", "test/vm"},
		command: first + ".ci/packages vm; go run ./test/vm $(.ci/kernels " + release + ") | go run ./test/verdict",
	}
}

// and names files and folders that count with all that is in them.
func (p part) and(inputs ...string) part {
	p.inputs = append(p.inputs, inputs...)
	return p
}

// uses names folders of which only the code counts.
func (p part) uses(folders ...string) part {
	p.code = append(p.code, folders...)
	return p
}

// crowded is the part with others beside it.
func (p part) crowded() part {
	p.crowd = true
	return p
}

// whenAsked is the part that CI leaves out.
func (p part) whenAsked() part {
	p.asked = true
	return p
}
