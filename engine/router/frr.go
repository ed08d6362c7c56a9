package router

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"tare/engine"
	"tare/lab"
)

const (
	frrPrograms = "/usr/lib/frr" // Debian's folder of the daemons
	frrUser     = "frr"          // the user that they run as
	frrDir      = lab.Scratch + "/frr"
)

// bgpdTemplate configures bgpd as birdTemplate configures BIRD.
const bgpdTemplate = `router bgp {{as}}
 bgp router-id {{.Addr}}
{{- range .Peers}}
 neighbor {{.Addr}} remote-as {{as}}
 neighbor {{.Addr}} timers connect 1
{{- if .Passive}}
 neighbor {{.Addr}} passive
{{- end}}
{{- if $.IPv6}}
 neighbor {{ip6 .Addr}} remote-as {{as}}
 neighbor {{ip6 .Addr}} timers connect 1
{{- if .Passive}}
 neighbor {{ip6 .Addr}} passive
{{- end}}
{{- end}}
{{- end}}
 address-family ipv4 unicast
{{- range .Blocks}}
  network {{.}}
{{- end}}
{{- range .Peers}}{{if .Client}}
  neighbor {{.Addr}} route-reflector-client
{{- end}}{{if $.IPv6}}
  no neighbor {{ip6 .Addr}} activate
{{- end}}{{end}}
{{- if .IPv6}}
 exit-address-family
 address-family ipv6 unicast
{{- range .Blocks}}
  network {{net6 .}}
{{- end}}
{{- range .Peers}}
  neighbor {{ip6 .Addr}} activate
{{- if .Client}}
  neighbor {{ip6 .Addr}} route-reflector-client
{{- end}}{{end}}
{{- end}}
`

// frrProgram finds one of FRR's daemons.
func frrProgram(name string) (string, error) {
	path := filepath.Join(frrPrograms, name)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	path, err := engine.Program(name)
	if err != nil {
		err = &engine.MissingError{What: name, Get: "apt-get install frr", Err: err}
	}
	return path, err
}

// startFRR starts zebra, which installs routes, and bgpd, which learns them. It
// adds the blocks' blackhole routes beforehand, as Felix does where BIRD does not:
// bgpd announces a block if the kernel has a route to it.
func startFRR(h *lab.Host, s Speaker) error {
	text, err := s.fill(bgpdTemplate)
	if err != nil {
		return err
	}
	if err := prepareFRR(h, text); err != nil {
		return err
	}
	for _, block := range s.Blocks {
		if err := h.AddBlackhole(block); err != nil {
			return err
		}
	}
	for _, name := range []string{"zebra", "bgpd"} {
		path, err := frrProgram(name)
		if err != nil {
			return err
		}
		file := filepath.Join(frrDir, name)
		_, err = h.StartDaemon(lab.Daemon{
			Name: name,
			Argv: []string{
				path, "-f", file + ".conf", "-i", file + ".pid", "-z", filepath.Join(frrDir, "zserv.api"),
				"--vty_socket", frrDir, "-P", "0", "--log", "stdout",
			},
			Ready: func() error { return engine.Listens(file + ".vty") },
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// announceByFRR has bgpd announce one more block.
func announceByFRR(h *lab.Host, s Speaker, block netip.Prefix) error {
	if err := h.AddBlackhole(block); err != nil {
		return err
	}
	announce := func(family string, block netip.Prefix) error {
		_, err := vtysh(h, "configure terminal", fmt.Sprintf("router bgp %d", asNumber), "address-family "+family+" unicast", "network "+block.String())
		return err
	}
	if err := announce("ipv4", block); err != nil || !s.IPv6 {
		return err
	}
	return announce("ipv6", lab.IPv6PrefixOf(block))
}

// vtysh sends commands to FRR's daemons.
func vtysh(h *lab.Host, commands ...string) (string, error) {
	path, err := engine.Program("vtysh")
	if err != nil {
		return "", err
	}
	argv := []string{path, "--vty_socket", frrDir}
	for _, command := range commands {
		argv = append(argv, "-c", command)
	}
	return h.Run(argv...)
}

// prepareFRR writes the daemons' settings into a folder that their user owns. They
// also write to /var/tmp, so the host gets its own /var/tmp.
func prepareFRR(h *lab.Host, bgpd []byte) error {
	// A user namespace has one user, and FRR's daemons switch to another.
	if _, err := engine.NeedRoot().Require(); err != nil {
		return err
	}
	owner, err := user.Lookup(frrUser)
	if err != nil {
		return &engine.MissingError{What: "user " + frrUser, Get: "apt-get install frr", Err: err}
	}
	uid, errUID := strconv.Atoi(owner.Uid)
	gid, errGID := strconv.Atoi(owner.Gid)
	if err := errors.Join(errUID, errGID); err != nil {
		return fmt.Errorf("read user %s: %w", frrUser, err)
	}
	for name, text := range map[string][]byte{"zebra.conf": nil, "bgpd.conf": bgpd} {
		if err := h.WriteFile(filepath.Join(frrDir, name), text, 0o644); err != nil {
			return err
		}
	}
	return h.Inside(func() error {
		if err := os.Chown(frrDir, uid, gid); err != nil {
			return fmt.Errorf("give %s to %s: %w", frrDir, frrUser, err)
		}
		if err := unix.Mount("tmpfs", "/var/tmp", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777"); err != nil {
			return fmt.Errorf("mount /var/tmp of %s: %w", h.Name, err)
		}
		return nil
	})
}

func frrVersion(h *lab.Host) (string, error) {
	path, err := frrProgram("bgpd")
	if err != nil {
		return "", err
	}
	text, err := h.Run(path, "--version")
	return engine.VersionNumber(text), err
}

func frrDown(h *lab.Host) ([]string, error) {
	text, err := vtysh(h, "show bgp summary failed")
	return neighbours(text), err
}

// neighbours returns the addresses that a summary lists, one a line.
func neighbours(text string) []string {
	var listed []string
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); len(fields) > 0 {
			if addr, err := netip.ParseAddr(fields[0]); err == nil {
				listed = append(listed, addr.String())
			}
		}
	}
	return listed
}
