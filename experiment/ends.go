package experiment

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"tare/catalog"
	"tare/lab"
	"tare/result"
	"tare/wire"
	"tare/workload"
)

// fragments is how many packets a datagram of the run travels in.
func (c *conductor) fragments(p place, path, name string, run workload.Run) (int, bool) {
	kind, _ := workload.Find(name)
	if kind.TCP {
		return 0, false
	}
	mtu := wire.InnerMTU(p.axes.Count("mtu"), p.network.Stack)
	ends, _ := c.built.ends(p.cluster, path)
	dial := ends.Dial
	if dial.IsLoopback() {
		mtu = lab.LoopbackMTU
	}
	return wire.Fragments(wire.IPOf(dial), run.Size, mtu), true
}

// meet finds how the two ends of a path are confined. It refuses a path if one of its
// ends may run on other CPUs than its host's: the toll would be that of the CPUs.
func (c *conductor) meet(ctx context.Context, p place, path string) (client, server *result.End, err error) {
	ends, _ := c.built.ends(p.cluster, path)
	var seen []string
	apart := false
	for _, end := range []struct {
		at, role string
		into     **result.End
	}{{ends.Client, "client", &client}, {ends.Server, "server", &server}} {
		h, err := c.site.Agent(ctx, p.cluster+"."+end.at, end.role)
		if err != nil {
			return client, server, err
		}
		host, cpus := c.built[p.cluster].CPUs[catalog.HostOf(end.at)], h.CPUs
		if c.built[p.cluster].sandboxed && end.at != catalog.HostOf(end.at) {
			cpus = cmp.Or(cpus, host) // it shows none: the lab has seen that the sandbox is bound there
		}
		*end.into = &result.End{At: end.at, Seccomp: h.Seccomp, CPUs: cpus}
		seen = append(seen, fmt.Sprintf("%s on %s, its host on %s", end.at, cpus, cmp.Or(host, "any")))
		apart = apart || host != "" && host != cpus
	}
	if apart {
		err = fmt.Errorf("the ends may run on other CPUs than their hosts: %s", strings.Join(seen, "; "))
	}
	return client, server, err
}
