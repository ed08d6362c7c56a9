package diagnose

import (
	"fmt"
	"strings"
)

// usualPort is the UDP port of VXLAN: IANA's, or that of Linux before it, which flannel
// keeps.
func (e *Evidence) usualPort() float64 {
	if strings.HasPrefix(e.Network, "flannel") {
		return 8472
	}
	return 4789
}

// remade reports whether of two hosts whose VXLAN devices differ it is the first that was
// changed: its device is younger than its containers', or its port is not the usual one.
// Where both look alike it is the later one of the path.
func (e *Evidence) remade(at, other string) bool {
	score := func(host string) (points int) {
		device := e.vxlans(host)[0]
		for _, port := range e.names(host, links, ".peer") {
			if master := e.word(host, links, port+".master"); port != "eth0" && e.number(host, links, device+".index") > e.number(host, links, port+".index") && master != "" {
				points = 2
			}
		}
		if e.number(host, links, device+".port") != e.usualPort() {
			points++
		}
		return points
	}
	mine, theirs := score(at), score(other)
	return mine > theirs || mine == theirs && at > other
}

// remake is the command that makes a VXLAN device anew with another VNI and port, with
// what it had: its place in a bridge, its addresses, routes, neighbours and entries.
func (e *Evidence) remake(at, device string, vni, port float64) string {
	s := e.state(at, links)
	options := ""
	if s[device+".nolearning"] == true {
		options += " nolearning"
	}
	if s[device+".proxy"] == true {
		options += " proxy"
	}
	if local := e.word(at, links, device+".local"); local != "" {
		options += " local " + local
	}
	commands := []string{
		"ip link del " + device,
		fmt.Sprintf("ip link add %s address %s mtu %v type vxlan id %v dev %s dstport %v%s", device, e.word(at, links, device+".mac"), e.number(at, links, device+".mtu"), vni, "eth0", port, options),
	}
	if master := e.word(at, links, device+".master"); master != "" {
		commands = append(commands, "ip link set "+device+" master "+master)
	}
	commands = append(commands, "ip link set "+device+" up")
	for _, a := range e.Addresses {
		if a.At == at && a.Device == device {
			commands = append(commands, fmt.Sprintf("%s addr add %s dev %s", ipOf(a.Prefix.Addr()), a.Prefix, device))
		}
	}
	for _, name := range e.names(at, neighbours, " dev "+device) {
		if mac, state, _ := strings.Cut(e.word(at, neighbours, name+" dev "+device), " "); state == "permanent" {
			commands = append(commands, fmt.Sprintf("ip neighbour replace %s lladdr %s dev %s nud permanent", name, mac, device))
		}
	}
	commands = append(commands, e.unpinned(at, device)...)
	for _, mac := range e.names(at, fdb, " dev "+device) {
		for _, to := range e.tunnelEnds(at, device, mac) {
			commands = append(commands, fmt.Sprintf("bridge fdb append %s dev %s dst %s", mac, device, to))
		}
	}
	for _, r := range e.Routes {
		if r.At == at && r.Device == device && r.Table == 0 && !r.Learned && r.Via.IsValid() {
			onlink := r
			onlink.Protocol = ""
			commands = append(commands, ipOf(r.To.Addr())+" route replace "+onlink.String()+" onlink")
		}
	}
	return strings.Join(commands, " && ")
}

// unpinned are the commands that make a tunnel's device, which asks nobody, know the addresses of its
// network on other hosts that it does not know.
func (e *Evidence) unpinned(at, device string) (commands []string) {
	own := e.prefixOn(at, e.word(at, links, device+".master"))
	for _, a := range e.Addresses {
		address := a.Prefix.Addr().String()
		known := strings.HasSuffix(e.word(at, neighbours, address+" dev "+device), "permanent")
		if hostOf(a.At) == at || known || a.Prefix.Masked() != own.Masked() || e.state(at, links)[device+".nolearning"] != true {
			continue
		}
		commands = append(commands, e.pinned(at, address, device, a.At, e.word(a.At, links, a.Device+".mac"), ""))
	}
	return commands
}
