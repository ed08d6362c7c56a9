package experiment

import (
	"tare/result"
	"tare/traffic/udp"
	"tare/workload"
)

// The congestion controls of gVisor's stack: the one that a connection has by itself, and the
// one that it can ask for.
const (
	sandboxCC      = "reno"
	sandboxOtherCC = "cubic"
)

// inSandbox is a run with a sandbox at an end. Its stack has no routes that choose the
// congestion control: each connection asks for it.
func inSandbox(run workload.Run, cc string) workload.Run {
	if run.CC == "" {
		run.CC = cc
	}
	run.OwnClocks = true
	return run
}

// unfitFor is why a group's workload can't be measured at a place whose containers are in
// sandboxes; empty: it can.
func unfitFor(p result.Plan, at place, g group) string {
	if !at.network.Sandboxed {
		return ""
	}
	kind, _ := workload.Find(g.workload.Name)
	return unfitInSandbox(kind, runOf(p, g.workload), p.Axes.Word("cc"))
}

func unfitInSandbox(kind workload.Workload, run workload.Run, cc string) string {
	switch {
	case kind.Pathless:
		return ""
	case kind.Cycle != nil:
		return "the first packet would be sent and answered by the kernel's namespace, whose addresses the sandbox has taken over"
	case run.Mode == string(udp.XDP) || run.Mode == string(udp.GSO):
		return "mode " + run.Mode + " asks the kernel for what a sandbox's stack does not have: take " + kind.Modes[0]
	case kind.TCP && run.CC == "" && cc != sandboxCC && cc != sandboxOtherCC:
		return "a sandbox's stack has no congestion control " + cc + ": weigh with --cc " + sandboxOtherCC
	case run.Server != "" || run.Tool != "":
		return "tare asks a real server at its own address until it answers, and gVisor's stack then holds that address at its loopback, " +
			"where datagrams sent from it are unreachable: take tare's own server and tool"
	case kind.Application() && kind.TCP && cc != sandboxCC:
		return "its connections do not ask for a congestion control, and a sandbox gives them " + sandboxCC + ": weigh with --cc " + sandboxCC
	}
	return ""
}
