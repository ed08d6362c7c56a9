package network

import (
	"bytes"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"text/template"

	"tare/lab"
)

const (
	birdSettings = lab.Scratch + "/bird.conf"
	birdSocket   = lab.Scratch + "/bird.ctl"
	birdPID      = lab.Scratch + "/bird.pid"
)

// birdTemplate gives BIRD the settings that Calico's own template gives it,
// timers included (confd/etc/calico/confd/templates/bird.cfg.template), where
// they bear on a lab: graceful restart and persistence are left out, so that
// routes end with their session.
//
// Calico's BIRD has a patch to lead routes into a tunnel (krt_tunnel). BIRD
// itself does the same by the attributes onlink, ifname and gw, in this order
// (2.0.11 and newer).
const birdTemplate = `log stderr all;
router id {{.Addr}};

protocol device { scan time 2; }
protocol direct { ipv4; interface -"veth-*", "*"; }
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
`

// settings fills in a router's settings.
func (s speaker) settings(text string) ([]byte, error) {
	parsed, err := template.New("settings").Funcs(template.FuncMap{"as": func() int { return asNumber }}).Parse(text)
	if err != nil {
		return nil, fmt.Errorf("write router's settings: %w", err)
	}
	var out bytes.Buffer
	if err := parsed.Execute(&out, s); err != nil {
		return nil, fmt.Errorf("write router's settings: %w", err)
	}
	return out.Bytes(), nil
}

// setBIRD writes BIRD's settings on a host.
func setBIRD(h *lab.Host, s speaker) error {
	text, err := s.settings(birdTemplate)
	if err != nil {
		return err
	}
	return h.WriteFile(birdSettings, text, 0o644)
}

// announceByBIRD has BIRD read its settings anew.
func announceByBIRD(h *lab.Host, s speaker, _ netip.Prefix) error {
	if err := setBIRD(h, s); err != nil {
		return err
	}
	_, err := birdc(h, "configure")
	return err
}

// startBIRD starts BIRD on a host.
func startBIRD(h *lab.Host, s speaker) error {
	if err := setBIRD(h, s); err != nil {
		return err
	}
	path, err := Program("bird")
	if err != nil {
		return err
	}
	_, err = h.StartDaemon(lab.Daemon{
		Name:  "bird",
		Argv:  []string{path, "-f", "-c", birdSettings, "-s", birdSocket, "-P", birdPID},
		Ready: func() error { return answers(birdSocket) },
	})
	return err
}

// answers tells whether somebody listens at a unix socket.
func answers(path string) error {
	conn, err := net.Dial("unix", path)
	if err != nil {
		return err
	}
	return conn.Close()
}

// birdc asks a host's BIRD.
func birdc(h *lab.Host, question ...string) (string, error) {
	path, err := Program("birdc")
	if err != nil {
		return "", err
	}
	return h.Run(append([]string{path, "-s", birdSocket}, question...)...)
}

func birdVersion(h *lab.Host) (string, error) {
	text, err := birdc(h, "show", "status") // "BIRD 2.0.12 ready."
	return versionNumber.FindString(text), err
}

func birdDown(h *lab.Host) ([]string, error) {
	text, err := birdc(h, "show", "protocols")
	return notEstablished(text), err
}

// notEstablished reads the sessions that are not up in BIRD's list of
// protocols: name, protocol, table, state, since, info.
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
