package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tare/catalog"
	"tare/probe"
	"tare/result"
	"tare/test/labtest"
)

// behindTap is a cell of containers with a device of that kind, and what they hold.
func behindTap(name, path, kind string, mtu float64) *result.Result {
	device := func(at string) result.State {
		return result.State{At: name + "." + at, Source: links, Values: map[string]any{
			"lo.mac": "00:00:00:00:00:00", "eth0.mac": "02:00:00:00:00:01", "eth0.kind": kind, "eth0.mtu": mtu,
		}}
	}
	cell := measured(name, path, "tcp_stream", 0.9)
	if path == catalog.PublishedPort {
		cell.Client = &result.End{At: "h1"}
	}
	if path == catalog.ContainerToHost {
		cell.Server = &result.End{At: "h2"}
	}
	cell.Samples = []result.Sample{{Readings: []result.Reading{
		{At: "h2", Source: snmp, Counts: map[string]float64{"Tcp.InSegs": 900}},
		{At: "h2/c1", Source: snmp, Counts: map[string]float64{"Tcp.InSegs": 1000}},
	}}}
	res := &result.Result{Cells: []result.Cell{cell}, States: []result.State{device("h1/c1"), device("h2/c1")}}
	Weigh(res, "")
	return res
}

// A container without root is slow by the process that has its packets. What helps there is
// not what helps with Docker's proxy.
func TestProcessBehindATapIsNamed(t *testing.T) {
	for _, c := range []struct {
		network, path, kind string
		mtu                 float64
		cause, fix          string
	}{
		{"slirp4netns", catalog.PublishedPort, "tun", 65520, "slirp4netns in user space copies each packet of h2/c1 between", "podman run --network slirp4netns:mtu=16384 IMAGE"},
		{"slirp4netns", catalog.PublishedPort, "tun", 65520, "slirp4netns in user space", "slirp4netns:mtu=16384"},
		{"pasta", catalog.PublishedPort, "tun", 65520, "pasta in user space copies each packet of h2/c1 between", "systemd-socket-activate -l PORT podman run IMAGE"},
		{"pasta", catalog.ContainerToPublishedPort, "tun", 65520, "of h1/c1 and h2/c1 between", "socket activation"},
		{"slirp4netns", catalog.PublishedPort, "tun", 1500, "its MTU of 1500 makes", "podman run --network slirp4netns:mtu=16384 IMAGE"},
		{"pasta", catalog.PublishedPort, "tun", 1500, "its MTU of 1500 makes", "podman run --network pasta:--mtu,65520 IMAGE"},
		{"pasta", catalog.ContainerToHost, "tun", 65520, "pasta in user space copies each packet of h1/c1 between", "the kernel forwards its packets then"},
		{"podman-rootless", catalog.PublishedPort, "tun", 65520, "slirp4netns in user space copies each packet of h2/c1 between", "slirp4netns:mtu=16384"},
		{"gvisor-tap-vsock", catalog.PublishedPort, "tun", 65520, "gvisor-tap-vsock in user space copies each packet of h2/c1 between", "socket activation"},
		{"gvisor-tap-vsock", catalog.PublishedPort, "tun", 1500, "its MTU of 1500 makes", "DOCKERD_ROOTLESS_ROOTLESSKIT_MTU=65520"},
		{catalog.Endpoint, catalog.CrossHost, "tun", 65520, "a process (such as pasta or slirp4netns) in user space copies", "socket activation"},
		{"gvisor", catalog.CrossHost, "veth", 1500, "runsc (gVisor) has the TCP/IP stack of h1/c1 and h2/c1 in user space", "runsc --network=host"},
		{"gvisor", catalog.HostToContainer, "veth", 1500, "of h1/c1 and h2/c1 in", "docker run --runtime runc IMAGE"},
		{"docker-proxy", catalog.PublishedPort, "veth", 1500, "a process in h2 relays the published port", "/etc/docker/daemon.json"},
		{"proxy", catalog.PublishedPort, "veth", 1500, "a process in h2 relays the published port", "as the network nat does"},
		{catalog.Endpoint, catalog.PublishedPort, "veth", 1500, "a process in h2 relays the published port", "nft list ruleset"},
		{"bridge", catalog.CrossHost, "veth", 1500, "", ""},
	} {
		name := c.network + " " + c.path
		found := behindTap(c.network, c.path, c.kind, c.mtu).Cells[0].Findings
		at := slices.IndexFunc(found, func(f result.Finding) bool { return f.ID == "userland-proxy" })
		if at < 0 || c.cause == "" {
			labtest.Equal(t, name+": a process is named", at >= 0, c.cause != "")
			continue
		}
		f := found[at]
		if !strings.Contains(f.Cause, c.cause) || !strings.Contains(f.Fix, c.fix) {
			t.Errorf("%s: %q, to fix it %q, want %q and %q", name, f.Cause, f.Fix, c.cause, c.fix)
		}
		if c.kind == "tun" && strings.Contains(f.Fix, "daemon.json") {
			t.Errorf("%s: the fix is Docker's: %q", name, f.Fix)
		}
	}
}

// A process that relays datagrams takes most of what its container takes; a host that only forwards takes few itself.
func TestProxyOfDatagramsIsNamed(t *testing.T) {
	for taken, want := range map[float64]bool{900: true, 200: false} {
		cell := measured("proxy", catalog.PublishedPort, "udp_stream", 0.9)
		cell.Samples = []result.Sample{{Readings: []result.Reading{
			{At: "h2", Source: snmp, Counts: map[string]float64{"Udp.InDatagrams": taken}},
			{At: "h2/c1", Source: snmp, Counts: map[string]float64{"Udp.InDatagrams": 1000}},
		}}}
		labtest.Equal(t, "a process is named", slices.Contains(costs(t, cell, nil), "userland-proxy"), want)
	}
}

// At an engine of the user's, the counters of a host are those of all its networks. A connection to the
// published port that ends at the host itself shows the process; one that is only forwarded is in no
// such list.
func TestProxyAtTheUsersEngineIsNamed(t *testing.T) {
	for connections, want := range map[int]bool{2: true, 0: false} {
		cell := measured("docker-bridge", catalog.ContainerToPublishedPort, "tcp_rr", 0.9)
		res := &result.Result{Cells: []result.Cell{cell}, States: []result.State{
			{At: "docker-bridge.h2", Source: probe.SourceAccepted, Values: map[string]any{catalog.ContainerToPublishedPort: connections}},
		}}
		Weigh(res, "")
		at := slices.IndexFunc(res.Cells[0].Findings, func(f result.Finding) bool { return f.ID == "userland-proxy" })
		labtest.Equal(t, "a process is named", at >= 0, want)
		if at >= 0 {
			labtest.Contains(t, "the evidence", fmt.Sprint(res.Cells[0].Findings[at].Evidence), "connections to the published port that end at the host itself 2 h2: ss -tn")
		}
	}
}

// A container that has a TAP beside its own device runs a virtual machine or a VPN: its
// packets do not pass that.
func TestTapBesideADeviceIsNoNetwork(t *testing.T) {
	e := &Evidence{Examination: result.Examination{States: []result.State{{At: "h2/c1", Source: links, Values: map[string]any{
		"eth0.mac": "02:00:00:00:00:01", "eth0.kind": "veth", "tap0.mac": "02:00:00:00:00:02", "tap0.kind": "tun",
	}}}}}
	labtest.Equal(t, "the device that a process has", e.tap("h2/c1"), "")
}
