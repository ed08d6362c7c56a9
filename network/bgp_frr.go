package network

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

	"tare/lab"
)

const (
	frrPrograms = "/usr/lib/frr" // where the package puts them
	frrUser     = "frr"          // as whom they run
	frrDir      = lab.Scratch + "/frr"
)

// bgpdTemplate says in FRR's words what birdTemplate says in BIRD's.
const bgpdTemplate = `router bgp {{as}}
 bgp router-id {{.Addr}}
{{- range .Peers}}
 neighbor {{.Addr}} remote-as {{as}}
 neighbor {{.Addr}} timers connect 1
{{- if .Passive}}
 neighbor {{.Addr}} passive
{{- end}}
{{- end}}
 address-family ipv4 unicast
{{- range .Blocks}}
  network {{.}}
{{- end}}
{{- range .Peers}}{{if .Client}}
  neighbor {{.Addr}} route-reflector-client
{{- end}}{{end}}
`

// frrProgram finds one of FRR's daemons.
func frrProgram(name string) (string, error) {
	path := filepath.Join(frrPrograms, name)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	path, err := Program(name)
	if err != nil {
		err = &MissingError{name, "apt-get install frr", err}
	}
	return path, err
}

// startFRR starts zebra, which lays routes, and bgpd, which learns them. The
// blocks' blackholes are laid beforehand, as Felix does where BIRD does not,
// and bgpd announces them since they are there.
func startFRR(h *lab.Host, s speaker) error {
	text, err := s.settings(bgpdTemplate)
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
			Ready: func() error { return answers(file + ".vty") },
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// announceByFRR tells bgpd of one more block.
func announceByFRR(h *lab.Host, _ speaker, block netip.Prefix) error {
	if err := h.AddBlackhole(block); err != nil {
		return err
	}
	_, err := vtysh(h, "configure terminal", fmt.Sprintf("router bgp %d", asNumber), "address-family ipv4 unicast", "network "+block.String())
	return err
}

// vtysh gives FRR's daemons commands.
func vtysh(h *lab.Host, commands ...string) (string, error) {
	path, err := Program("vtysh")
	if err != nil {
		return "", err
	}
	argv := []string{path, "--vty_socket", frrDir}
	for _, command := range commands {
		argv = append(argv, "-c", command)
	}
	return h.Run(argv...)
}

// prepareFRR writes the daemons' settings into a folder that is theirs. They
// keep files below /var/tmp too, which the host gets one of its own of.
func prepareFRR(h *lab.Host, bgpd []byte) error {
	need := root() // a user namespace has one user, and FRR's programs want to be another
	if _, err := need.Find(); err != nil {
		return &MissingError{need.What, need.Get, err}
	}
	owner, err := user.Lookup(frrUser)
	if err != nil {
		return &MissingError{"user " + frrUser, "apt-get install frr", err}
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
	return versionNumber.FindString(text), err
}

func frrDown(h *lab.Host) ([]string, error) {
	text, err := vtysh(h, "show bgp summary failed")
	return neighbours(text), err
}

// neighbours reads those that a summary lists, one a line.
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
