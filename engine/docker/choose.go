package docker

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"tare/catalog"
	"tare/engine"
	"tare/lab"
)

// Choice is an engine of those that this machine has.
type Choice struct {
	Version string // as dockerd prints it: "20.10.24+dfsg1"

	daemon, proxy string // paths of its programs
	backend       string // of its rules
}

// pairs are the daemon and the proxy of each engine that a machine may have: the distribution's first.
func pairs() [][2]engine.Need {
	return [][2]engine.Need{
		{engine.NeedProgram("dockerd", "docker.io"), engine.NeedProgram("docker-proxy", "docker.io")},
		{engine.NeedPart("dockerd-29"), engine.NeedPart("docker-proxy-29")},
	}
}

// Choose finds an engine whose version begins as wanted: "29", "20.10"; empty: the
// distribution's. Its rules are written by a back end: iptables, or nftables, which
// Docker has since 29. Each is asked for its version in a host. The error of what the machine
// lacks is an *engine.MissingError.
func Choose(h *lab.Host, version, backend string) (Choice, error) {
	var had []string
	for _, pair := range pairs() {
		c, err := choiceOf(h, pair)
		if missing := new(engine.MissingError); errors.As(err, &missing) {
			continue // another may be there
		}
		if err != nil {
			return Choice{}, err
		}
		had = append(had, c.Version)
		if !begins(c.Version, version) {
			continue
		}
		if c.backend = backend; backend == catalog.ByNftables && c.major() < 29 {
			return Choice{}, fmt.Errorf("start Docker %s with nftables: it has no such back end: add --docker-version 29", c.Version)
		}
		return c, nil
	}
	return Choice{}, &engine.MissingError{
		What: "Docker " + version, Get: "run make parts, which builds Docker 29, or leave out --docker-version",
		Err: fmt.Errorf("this machine has %s", strings.Join(had, " and ")),
	}
}

func choiceOf(h *lab.Host, pair [2]engine.Need) (c Choice, err error) {
	if c.daemon, err = pair[0].Require(); err != nil {
		return c, err
	}
	if c.proxy, err = pair[1].Require(); err != nil {
		return c, err
	}
	out, err := h.Run(c.daemon, "--version")
	if err != nil {
		return c, fmt.Errorf("ask %s for its version: %w", c.daemon, err)
	}
	if c.Version = versionIn(out); c.Version == "" {
		return c, fmt.Errorf("ask %s for its version: it printed %q", c.daemon, out)
	}
	return c, nil
}

// versionIn is the version in "Docker version 20.10.24+dfsg1, build 297e128".
func versionIn(text string) string {
	_, rest, _ := strings.Cut(text, "version ")
	version, _, _ := strings.Cut(rest, ",")
	return strings.TrimSpace(version)
}

// begins reports whether a version begins with another, number by number: 29.1 with 29, not with 2.
func begins(version, with string) bool {
	rest, is := strings.CutPrefix(version, with)
	return is && (with == "" || rest == "" || rest[0] < '0' || rest[0] > '9')
}

// major is the version's first number, 0 where it has none.
func (c Choice) major() int {
	end := strings.IndexFunc(c.Version, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(c.Version)
	}
	number, err := strconv.Atoi(c.Version[:end])
	if err != nil {
		return 0
	}
	return number
}

// flags are those of dockerd that differ from version to version.
func (c Choice) flags() []string {
	var flags []string
	if c.major() < 25 { // which has no such flag, and leaves its score as it is
		flags = append(flags, "--oom-score-adjust", "0") // a lower one needs CAP_SYS_RESOURCE
	}
	if c.major() >= 29 {
		flags = append(flags, "--firewall-backend", c.backend)
	}
	return flags
}

// needs are the programs that it needs besides.
func (c Choice) needs() []engine.Need {
	if c.backend == catalog.ByNftables {
		return []engine.Need{engine.NeedProgram("nft", "nftables")}
	}
	return nil
}

// config is the content of daemon.json.
func (c Choice) config() string {
	if c.major() >= 29 { // runc before 1.2 makes no time namespaces, which it asks for
		return `{"features": {"time-namespaces": false}}`
	}
	return "{}"
}
