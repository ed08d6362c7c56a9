package router

import (
	"net/netip"
	"strings"

	"tare/engine"
	"tare/lab"
)

const (
	birdSettings = lab.Scratch + "/bird.conf"
	birdSocket   = lab.Scratch + "/bird.ctl"
	birdPID      = lab.Scratch + "/bird.pid"
)

// birdTemplate has the settings of Calico's own template, timers included
// (confd/etc/calico/confd/templates/bird.cfg.template), that matter in a lab.
// Graceful restart and persistence are left out, so that routes end with their
// session.
//
// Calico's BIRD has a patch that routes into a tunnel (krt_tunnel). BIRD itself
// does the same by the attributes onlink, ifname and gw, in this order (2.0.11 and
// newer). Calico has a second daemon for IPv6, with sessions over it.
const birdTemplate = `log stderr all;
router id {{.Addr}};

protocol device { scan time 2; }
protocol direct { ipv4;{{if .IPv6}} ipv6;{{end}} interface -"veth-*", "*"; }
protocol static blocks {
  ipv4;
{{- range .Blocks}}
  route {{.}} blackhole;
{{- end}}
}
protocol kernel {
  scan time 2;
  ipv4 {
    import none;
    export filter {
{{- if .Tunnel}}
      if source = RTS_BGP then { onlink = true; ifname = "{{.Tunnel}}"; gw = bgp_next_hop; accept; }
{{- end}}
      if source ~ [ RTS_STATIC, RTS_BGP ] then accept;
      reject;
    };
  };
}

template bgp host {
  local {{.Addr}} as {{as}};
  multihop;
  connect delay time 1;
  connect retry time 3;
  error wait time 5, 60;
  ipv4 {
    gateway recursive;
    add paths on;
    import all;
    export where source ~ [ RTS_STATIC, RTS_BGP ];
  };
}
{{- range .Peers}}
protocol bgp {{.Name}} from host {
  neighbor {{.Addr}} as {{as}};
{{- if .Passive}}
  passive on;
{{- end}}
{{- if .Client}}
  rr client;
{{- end}}
}
{{- end}}
{{- if .IPv6}}

protocol static blocks6 {
  ipv6;
{{- range .Blocks}}
  route {{net6 .}} blackhole;
{{- end}}
}
protocol kernel {
  scan time 2;
  ipv6 {
    import none;
    export where source ~ [ RTS_STATIC, RTS_BGP ];
  };
}

template bgp host6 {
  local {{ip6 .Addr}} as {{as}};
  multihop;
  connect delay time 1;
  connect retry time 3;
  error wait time 5, 60;
  ipv6 {
    gateway recursive;
    add paths on;
    import all;
    export where source ~ [ RTS_STATIC, RTS_BGP ];
  };
}
{{- range .Peers}}
protocol bgp {{.Name}}_6 from host6 {
  neighbor {{ip6 .Addr}} as {{as}};
{{- if .Passive}}
  passive on;
{{- end}}
{{- if .Client}}
  rr client;
{{- end}}
}
{{- end}}
{{- end}}
`

// setBIRD writes BIRD's settings on a host.
func setBIRD(h *lab.Host, s Speaker) error {
	text, err := s.fill(birdTemplate)
	if err != nil {
		return err
	}
	return h.WriteFile(birdSettings, text, 0o644)
}

// announceByBIRD has BIRD read its settings again.
func announceByBIRD(h *lab.Host, s Speaker, _ netip.Prefix) error {
	if err := setBIRD(h, s); err != nil {
		return err
	}
	_, err := birdc(h, "configure")
	return err
}

// startBIRD starts BIRD on a host.
func startBIRD(h *lab.Host, s Speaker) error {
	if err := setBIRD(h, s); err != nil {
		return err
	}
	path, err := engine.Program("bird")
	if err != nil {
		return err
	}
	_, err = h.StartDaemon(lab.Daemon{
		Name:  "bird",
		Argv:  []string{path, "-f", "-c", birdSettings, "-s", birdSocket, "-P", birdPID},
		Ready: func() error { return engine.Listens(birdSocket) },
	})
	return err
}

// birdc sends a command to a host's BIRD.
func birdc(h *lab.Host, command ...string) (string, error) {
	path, err := engine.Program("birdc")
	if err != nil {
		return "", err
	}
	return h.Run(append([]string{path, "-s", birdSocket}, command...)...)
}

func birdVersion(h *lab.Host) (string, error) {
	text, err := birdc(h, "show", "status") // "BIRD 2.0.12 ready."
	return engine.VersionNumber(text), err
}

func birdDown(h *lab.Host) ([]string, error) {
	text, err := birdc(h, "show", "protocols")
	return notEstablished(text), err
}

// notEstablished returns the names of the sessions that are not up in BIRD's list
// of protocols: name, protocol, table, state, since, info.
func notEstablished(text string) []string {
	var down []string
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) > 5 && fields[1] == "BGP" && fields[5] != "Established" {
			down = append(down, fields[0])
		}
	}
	return down
}
