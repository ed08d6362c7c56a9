package catalog

import (
	"fmt"
	"slices"
	"strings"
)

// The parameters of workloads.
const (
	Flows       = "flows"
	Size        = "size"
	Sizes       = "sizes"
	Rate        = "rate"
	Bytes       = "bytes"
	Reverse     = "reverse"
	Bidir       = "bidir"
	Mode        = "mode"
	Connections = "connections"
	AtOnce      = "workers"
	Server      = "server"
	Tool        = "tool"
)

// WorkloadParams lists the parameters of all workloads, each once.
func WorkloadParams() []Param {
	return []Param{
		{Name: Flows, Doc: "concurrent connections (default: the workload's own, mostly 1)"},
		{Name: Size, Doc: "bytes of a message or datagram, as 64 or 128K (default: the workload's own)"},
		{Name: Rate, Doc: "rate to send at, as 100mbit, 250kpps or 5000/s (default: the workload's own)"},
		{Name: Mode, Doc: "how the engine sends (default: the workload's headline mode)"},
		{Name: Reverse, Doc: "the serving end sends", Switch: true},
		{Name: Bidir, Doc: "both ends send", Switch: true},
		{Name: Bytes, Doc: "end a run after this many bytes of payload, as 100G"},
		{Name: Sizes, Doc: "message sizes of a sweep, as 8:256K:*2 (default: the workload's own)"},
		{Name: Connections, Doc: "connections of http, mysql and redis, flows of dns, a comma list (default 10; of mysql 1,16,64)", List: true},
		{Name: AtOnce, Doc: "containers that lifecycle and attach make concurrently, a comma list (default 1,10; 1)", List: true},
		{Name: Server, Doc: "server of an application, or tare for tare's own: " + Equipped(Server) + " (default: the real one if it is installed)"},
		{Name: Tool, Doc: "client of an application, or tare for tare's own: " + Equipped(Tool)},
	}
}

// Params names the parameters that the workload takes.
func (w Workload) Params() (names []string) {
	for _, p := range WorkloadParams() {
		if w.takes(p.Name) {
			names = append(names, p.Name)
		}
	}
	return names
}

func (w Workload) takes(param string) bool {
	switch param {
	case Flows:
		return w.Flows > 1 && !w.Application() && !w.MakesContainers()
	case Connections:
		return w.Application()
	case AtOnce:
		return w.MakesContainers()
	case Size:
		return w.Size.Most > 0
	case Rate:
		return w.RateUnit != ""
	case Mode:
		return len(w.Modes) > 1
	case Server:
		return len(w.Servers) > 0
	case Tool:
		return len(w.Tools) > 0
	}
	return slices.Contains(w.Takes, Extra(param))
}

// Equipped lists the programs that a parameter, Server or Tool, chooses from, with their workloads, as
// "nginx (http), mariadb (mysql)".
func Equipped(param string) string {
	var all []string
	for _, w := range workloads() {
		programs := w.Servers
		if param == Tool {
			programs = w.Tools
		}
		for _, name := range programs {
			all = append(all, fmt.Sprintf("%s (%s)", name, w.Name))
		}
	}
	return strings.Join(all, ", ")
}
