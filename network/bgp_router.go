package network

import (
	"fmt"
	"net/netip"

	"golang.org/x/sys/unix"

	"tare/lab"
)

// routerName is the parameter that chooses the BGP daemon.
const routerName = "router"

func routerParam() Param {
	return Param{Name: routerName, Doc: "the BGP daemon that lays the routes", Values: []string{"bird", "frr"}}
}

// router is a BGP daemon.
type router struct {
	name     string // the parameter's value
	protocol int    // under which the kernel knows its routes
	start    func(h *lab.Host, s speaker) error
	announce func(h *lab.Host, s speaker, block netip.Prefix) error // one more, which s has already
	version  func(h *lab.Host) (string, error)
	down     func(h *lab.Host) ([]string, error) // the sessions that are not up
}

func findRouter(name string) (router, error) {
	for _, r := range []router{
		{"bird", unix.RTPROT_BIRD, startBIRD, announceByBIRD, birdVersion, birdDown},
		{"frr", unix.RTPROT_BGP, startFRR, announceByFRR, frrVersion, frrDown},
	} {
		if r.name == name {
			return r, nil
		}
	}
	return router{}, fmt.Errorf("router %q: unknown", name)
}

// why says, for an error, what keeps a host's routes away.
func (r router) why(h *lab.Host) string {
	down, err := r.down(h)
	switch {
	case err != nil:
		return err.Error()
	case len(down) == 0:
		return "every session is up"
	}
	return fmt.Sprintf("%d sessions are not up, the first with %s", len(down), down[0])
}
