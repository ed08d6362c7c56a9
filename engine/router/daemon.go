// Package router drives BGP daemons: BIRD and FRR, one on each host of a lab.
package router

import (
	"bytes"
	"fmt"
	"net/netip"

	template "github.com/DataDog/datadog-agent/pkg/template/text"
	"golang.org/x/sys/unix"

	"tare/lab"
)

// asNumber is the autonomous system of every host: all sessions are iBGP. It is
// Calico's default.
const asNumber = 64512

// Speaker is the configuration of a host's daemon.
type Speaker struct {
	Addr   netip.Addr
	Blocks []netip.Prefix // that it announces
	Peers  []Peer
	IPv6   bool   // it announces what belongs to the blocks of IPv6 too, in sessions over IPv6
	Tunnel string // the device that learned routes go through; empty: the next hop's. BIRD only
}

// Peer is another end of a speaker's sessions.
type Peer struct {
	Name    string
	Addr    netip.Addr
	Passive bool // it connects to us
	Client  bool // we reflect routes to it (RFC 4456)
}

// fill fills in a daemon's configuration.
func (s Speaker) fill(text string) ([]byte, error) {
	parsed, err := template.New("settings").Funcs(template.FuncMap{
		"as": func() int { return asNumber }, "ip6": lab.IPv6Of, "net6": lab.IPv6PrefixOf,
	}).Parse(text)
	if err != nil {
		return nil, fmt.Errorf("write router's settings: %w", err)
	}
	var out bytes.Buffer
	if err := parsed.Execute(&out, s); err != nil {
		return nil, fmt.Errorf("write router's settings: %w", err)
	}
	return out.Bytes(), nil
}

// Daemon is a BGP daemon: how to start it, and how to ask it.
type Daemon struct {
	Name     string
	Protocol int // of its routes in the kernel: rtm_protocol, linux/rtnetlink.h
	Start    func(h *lab.Host, s Speaker) error
	Announce func(h *lab.Host, s Speaker, block netip.Prefix) error // one more block, which s has already
	Version  func(h *lab.Host) (string, error)
	Down     func(h *lab.Host) ([]string, error) // the peers whose sessions are not up
}

// BIRD is the daemon that Calico runs. Ordinary users can run it too.
func BIRD() Daemon {
	return Daemon{"bird", unix.RTPROT_BIRD, startBIRD, announceByBIRD, birdVersion, birdDown}
}

// FRR is zebra and bgpd of FRRouting, which only root can run.
func FRR() Daemon {
	return Daemon{"frr", unix.RTPROT_BGP, startFRR, announceByFRR, frrVersion, frrDown}
}

// Find returns a daemon by name.
func Find(name string) (Daemon, error) {
	for _, d := range []Daemon{BIRD(), FRR()} {
		if d.Name == name {
			return d, nil
		}
	}
	return Daemon{}, fmt.Errorf("router %q: unknown", name)
}

// Problem describes the sessions of a host that are not up, for an error.
func (d Daemon) Problem(h *lab.Host) string {
	down, err := d.Down(h)
	switch {
	case err != nil:
		return err.Error()
	case len(down) == 0:
		return "every session is up"
	}
	return fmt.Sprintf("%d sessions are not up, the first with %s", len(down), down[0])
}
