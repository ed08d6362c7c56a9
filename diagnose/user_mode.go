package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"tare/catalog"
	"tare/result"
)

// largeMTU is from where on an MTU spares a process in user space most of its packets: 16 KiB
// are eleven segments of an Ethernet in one.
const largeMTU = 16384

// userMode is the finding of containers without a device of the kernel's, as those of a user
// without root: a process has their packets.
func (e *Evidence) userMode(m result.Metric, places []string) result.Finding {
	f := result.Finding{
		Cause: fmt.Sprintf("%s in user space copies each packet of %s between a TAP device and sockets of the host: the kernel does not forward it",
			e.program(), strings.Join(places, " and ")),
		Evidence: e.tolled(m),
		Fix: "systemd-socket-activate -l PORT podman run IMAGE  # a server that takes the socket it is passed (socket activation): no process copies then; " +
			"or run it as root on a bridge or macvlan",
		Confidence: 0.9,
	}
	if e.Server == hostOf(e.Server) { // no socket is passed to who connects
		f.Fix = "sudo podman run IMAGE  # on root's bridge: the kernel forwards its packets then"
	}
	for _, at := range places {
		device := e.tap(at)
		mtu := e.number(at, links, device+".mtu")
		f.Evidence = append(f.Evidence, seen(device+".kind", e.word(at, links, device+".kind"), at, links), seen(device+".mtu", mtu, at, links))
		switch {
		case mtu > largeMTU && e.program() == "slirp4netns":
			f.Fix = "podman run --network " + e.roomyTap() + " IMAGE  # its bulk transfers do not collapse there; or pass the server a socket that systemd listens on (socket activation); or root's bridge or macvlan"
		case mtu > 0 && mtu < largeMTU:
			if many := fmt.Sprintf("; its MTU of %.0f makes many packets of what could be one", mtu); !strings.Contains(f.Cause, many) {
				f.Cause += many
			}
			f.Fix = e.enlargedTap() + "  # no wire carries such a packet: the process sends its content by sockets"
		}
	}
	return e.adding(m, f)
}

// program names what has the packets of containers that have only a TAP device.
func (e *Evidence) program() string {
	if e.Network == "podman-rootless" {
		return "slirp4netns"
	}
	if kind, known := catalog.FindNetwork(e.Network); known && catalog.Builds(kind.Name) {
		return kind.Name
	}
	return "a process (such as pasta or slirp4netns)"
}

// roomyTap is how Podman gives a container a TAP device with a large MTU. That of slirp4netns
// is not the largest: from about 20000 on its bulk transfers may collapse (slirp4netns issue 284).
func (e *Evidence) roomyTap() string {
	if e.Network == "pasta" {
		return "pasta:--mtu,65520"
	}
	return "slirp4netns:mtu=16384"
}

// enlargedTap is how a container gets a TAP device with a large MTU. Podman has no network by
// gvisor-tap-vsock but that of its virtual machine: RootlessKit, as of rootless Docker, has.
func (e *Evidence) enlargedTap() string {
	if e.Network == "gvisor-tap-vsock" {
		return "DOCKERD_ROOTLESS_ROOTLESSKIT_MTU=65520, RootlessKit's own default"
	}
	return "podman run --network " + e.roomyTap() + " IMAGE"
}

// userModes are the ends whose only device is a TAP.
func (e *Evidence) userModes() []string {
	var places []string
	for _, at := range []string{e.Client, e.Server} {
		if at != hostOf(at) && e.tap(at) != "" {
			places = result.AddOnce(places, at)
		}
	}
	return places
}

// tap is the only device of a place, beside its loopback, where it is a TAP; empty: it is not.
func (e *Evidence) tap(at string) string {
	devices := slices.DeleteFunc(e.names(at, links, ".mac"), func(name string) bool { return name == "lo" })
	if len(devices) != 1 || e.word(at, links, devices[0]+".kind") != "tun" {
		return ""
	}
	return devices[0]
}

// sandboxed is the finding of containers whose TCP/IP stack is that of a sandbox.
func (e *Evidence) sandboxed(m result.Metric, places []string) result.Finding {
	return e.adding(m, result.Finding{
		Cause: fmt.Sprintf("runsc (gVisor) has the TCP/IP stack of %s in user space, and catches the system calls",
			strings.Join(places, " and ")),
		Evidence:   e.tolled(m),
		Fix:        "docker run --runtime runc IMAGE  # for what is trusted; or runsc --network=host: the sandbox with the kernel's stack, in the same namespace",
		Confidence: 0.9,
	})
}

// sandboxes are the ends that are containers in sandboxes.
func (e *Evidence) sandboxes() []string {
	var places []string
	if kind, known := catalog.FindNetwork(e.Network); !known || !kind.Sandboxed {
		return nil
	}
	for _, at := range []string{e.Client, e.Server} {
		if at != hostOf(at) {
			places = result.AddOnce(places, at)
		}
	}
	return places
}
