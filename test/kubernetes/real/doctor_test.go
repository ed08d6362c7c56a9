package real

import (
	"encoding/json"
	"slices"
	"strings"
)

// The doctor finds nothing in a cluster that is well, and says who does not do its part in one where
// pods do not reach themselves, and where nothing serves Services.
func (c cluster) testDoctor() {
	t := c.t
	if found := c.doctor(0); len(found) > 0 {
		t.Errorf("in a cluster that is well it found %+v", found)
	}
	c.atHost("h1", "sed", "-i", `s/"hairpinMode": true/"hairpinMode": false/`, "/run/tare/cni/net.d/10-tare.conflist")
	found := c.doctor(4)
	if len(found) != 1 || found[0].ID != "hairpin-off" {
		t.Errorf("where pods do not reach themselves it found %+v", found)
	}
	if n := c.kill("kube-proxy --"); n != 2 {
		t.Fatalf("%d kube-proxy were killed, want 2", n)
	}
	found = c.doctor(4)
	for _, path := range []string{"cluster-ip", "host-to-cluster-ip", "node-port", "container-to-node-port"} {
		named := slices.ContainsFunc(found, func(f finding) bool {
			return f.ID == "service-unserved" && slices.ContainsFunc(f.Paths, func(p string) bool { return strings.HasPrefix(p, "pods "+path+" ") })
		})
		if !named {
			t.Errorf("on %s no Service without a server was found: %+v", path, found)
		}
	}
	c.left()
}

// finding is what is read of one.
type finding struct {
	ID, Severity, Cause, Fix string
	Paths                    []string
}

// doctor looks for known faults, and gives the errors.
func (c cluster) doctor(want int) []finding {
	c.t.Helper()
	out, said, status := c.tare(c.kubeconfig, "doctor", "--site", "kubernetes", "--json")
	var found struct{ Findings []finding }
	if err := json.Unmarshal([]byte(out), &found); err != nil || status != want {
		c.t.Fatalf("tare doctor: status %d, want %d, %v: %s%s", status, want, err, out, said)
	}
	return slices.DeleteFunc(found.Findings, func(f finding) bool { return f.Severity != "error" })
}
