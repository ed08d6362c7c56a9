package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"testing"

	"tare/network/kinds"
	"tare/test/labtest"
)

// machine makes, in new namespaces, the host that the commands of a network's page
// are typed on.
const machine = `set -eu
mount -t tmpfs none /run
ip link set lo up
ip link add eth0 type veth peer name wire
ip addr add 10.0.0.1/16 dev eth0
ip link set wire up
ip link set eth0 up
`

// lacks asks the kernel by iproute2, on the host that machine makes, for what a
// network is made of and what a kernel may lack. A network that is not listed here
// is in every kernel that tare runs on.
func lacks() map[string]string {
	vlan := "ip link add link eth0 name try type vlan id 9"
	return map[string]string{
		"ipvlan":      "ip link add link eth0 name try type ipvlan mode l2",
		"gre":         "ip link add try type gre local 10.0.0.1 remote 10.0.0.9",
		"geneve":      "ip link add try type geneve id 7 remote 10.0.0.9",
		"wireguard":   "ip link add try type wireguard",
		"vlan":        vlan,
		"bridge-vlan": vlan,
		"macnat":      vlan,

		"service-iptables": "iptables -t nat -A OUTPUT -m addrtype --dst-type LOCAL -j RETURN",
		"service-nftables": "nft add table ip try",
		"service-ipvs":     "ipvsadm -A -t 192.0.2.1:80",

		"ipsec": "ip xfrm state add src 10.0.0.8 dst 10.0.0.9 proto esp spi 9 mode tunnel aead 'rfc4106(gcm(aes))' " +
			"0x0102030405060708090a0b0c0d0e0f1011121314 128",
	}
}

// incomplete is why the commands of a page alone make no container that works, by
// network.
func incomplete() map[string]string {
	return map[string]string{
		"macnat":    "its rules are added to bridge-vlan",
		"wireguard": "it needs the key of the other host",
		"ipsec":     "it needs a key",
	}
}

// apart are the networks whose containers do not reach their own host.
func apart() []string { return []string{"macvlan", "ipvlan", "vlan", "bridge-vlan", "macnat"} }

// after is how a page names the network whose commands come first.
var after = regexp.MustCompile("After the commands of \\[`([a-z-]+)`\\]")

// commandsOf are the commands on a network's page, after those that they begin with; empty: there is nothing to type.
func commandsOf(t *testing.T, file string) string {
	t.Helper()
	commands := firstOf(t, file, "sh")
	if before := after.FindStringSubmatch(read(t, file)); before != nil && commands != "" {
		return commandsOf(t, "docs/networks/"+before[1]+".md") + commands
	}
	return commands
}

// typed runs commands on a host that machine makes.
func typed(commands string) ([]byte, error) {
	shell := exec.Command("unshare", "-Urmn", "sh", "-c", machine+commands)
	shell.Env = append(os.Environ(), "PATH="+os.Getenv("PATH")+":/usr/sbin:/sbin")
	return shell.CombinedOutput()
}

// TestRealNetworkCommands types the commands on the pages of networks that need only
// the kernel, and checks that the container then reaches its host. If tare reports
// that this kernel lacks a network, iproute2 must fail on it too.
func TestRealNetworkCommands(t *testing.T) {
	here, lacks := asDeclared(t, labtest.Tare(t)), lacks()
	for _, n := range kinds.All() {
		commands := commandsOf(t, pageOf(n))
		ask, mayLack := lacks[n.Name]
		if commands == "" || len(n.Needs) > 0 && !mayLack {
			continue // there is nothing to type, or it is made of parts beyond the kernel
		}
		t.Run(n.Name, func(t *testing.T) {
			t.Parallel()
			if mayLack {
				out, err := typed(ask)
				if has := err == nil; has != here[n.Name] {
					t.Fatalf("tare reports that the kernel has it: %t; %q: %v\n%s", here[n.Name], ask, err, out)
				}
			}
			if !here[n.Name] {
				if !mayLack {
					t.Fatal("it does not run here, although no kernel lacks it")
				}
				t.Logf("%s docs/networks/%s.md was not typed: this kernel refuses %q", labtest.NotTested, n.Name, ask)
				return
			}
			if why := incomplete()[n.Name]; why != "" {
				t.Logf("%s docs/networks/%s.md was not typed: %s", labtest.NotTested, n.Name, why)
				return
			}
			check := "ip netns exec c1 ping -c 1 -W 5 10.0.0.1\n"
			if slices.Contains(apart(), n.Name) {
				check = "ip -n c1 addr show dev eth0 up\n"
			}
			if out, err := typed(commands + check); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// asDeclared reports of each network whether it runs here with the fidelity that
// it declares: without a module, another part may do its work.
func asDeclared(t *testing.T, binary string) map[string]bool {
	t.Helper()
	out, err := exec.Command(binary, "list", "networks", "--probe", "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var listed []struct {
		Name, Fidelity string
		Available      bool
	}
	if err := json.Unmarshal(out, &listed); err != nil {
		t.Fatal(err)
	}
	here := map[string]bool{}
	for _, l := range listed {
		n, _ := kinds.Find(l.Name)
		here[l.Name] = l.Available && l.Fidelity == n.Fidelity
	}
	return here
}
