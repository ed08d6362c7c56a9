package kinds_test

import (
	"strings"
	"testing"

	"tare/catalog"
	"tare/site"
	"tare/test/labtest"
)

// Docker 29, which `make parts` builds, beside the distribution's: it keeps the same promises by either
// back end of its rules.
func TestRealDocker29(t *testing.T) {
	if !asRoot(t) {
		return
	}
	old := with("docker-nat", "docker-nat", catalog.Ports, "3")
	old.Params[catalog.UserlandProxy] = catalog.Off
	all := []site.ClusterSpec{old}
	for _, backend := range []string{catalog.ByIptables, catalog.ByNftables} {
		for _, name := range []string{"docker-bridge", "docker-nat"} {
			spec := with(name+"-"+backend, name, catalog.DockerVersion, "29")
			spec.Params[catalog.Backend] = backend
			six := overVersion6(spec)
			six.Name += "6"
			all = append(all, spec, six)
		}
	}
	l := build(t, all...)
	keepPromises(t, l)
	for _, b := range l.Topology.Clusters {
		if is29 := strings.HasPrefix(b.Parts["dockerd"], "29"); is29 != (b.Params[catalog.DockerVersion] == "29") {
			t.Errorf("%s is run by dockerd %s", b.Name, b.Parts["dockerd"])
		}
	}
	ports := shell(t, l, "docker-nat.h1", "docker --host unix://"+catalog.DockerFolder+"/docker.sock port docker-nat-h1-c2 | sort -u")
	labtest.Equal(t, "what the second container publishes", ports, "21027/tcp -> 10.0.2.1:21027\n21028/tcp -> 10.0.2.1:21028\n21029/tcp -> 10.0.2.1:21029\n")
	for backend, want := range map[string]string{catalog.ByIptables: "", catalog.ByNftables: "ip docker-bridges\n"} {
		labtest.Equal(t, "table of Docker's with "+backend, shell(t, l, "docker-nat-"+backend+".h1", "nft list tables | grep -o 'ip docker-bridges' || true"), want)
	}
}

// An engine that the machine does not have, rules that one can't write, and more ports than a host has are
// refused with what to do.
func TestRealDockerVersionsThatAreNot(t *testing.T) {
	if !asRoot(t) {
		return
	}
	crowded := with("crowded", "docker-nat", catalog.Ports, "500")
	crowded.Containers = 100
	l := tryBuild(t, with("none", "docker-bridge", catalog.DockerVersion, "17.03"), with("old", "docker-bridge", catalog.Backend, catalog.ByNftables), crowded)
	for name, want := range map[string]string{"none": "this machine has ", "old": "add --docker-version 29", "crowded": "a host has 11744 for them: ask for fewer"} {
		if b := built(t, l, name); !strings.Contains(b.Error, want) {
			t.Errorf("%s: error %q, want %q in it", name, b.Error, want)
		}
	}
	labtest.Equal(t, "what gets it", built(t, l, "none").Get, "run make parts, which builds Docker 29, or leave out --docker-version")
}
