package real

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// meshed is what is read of a mesh's result.
type meshed struct {
	Facts, Warnings []string
	Mesh            struct {
		Nodes []struct{ Name string }
		Named []struct {
			Kind string
			Of   []string
		}
	}
}

// mesh measures between the nodes for a moment.
func (c cluster) mesh(args ...string) (m meshed, said string) {
	c.t.Helper()
	out, said, status := c.tare(c.kubeconfig, append([]string{"mesh", "--site", "kubernetes", "--json"}, args...)...)
	if status != 0 {
		c.t.Fatalf("tare mesh: status %d: %s", status, said)
	}
	if err := json.Unmarshal([]byte(out), &m); err != nil {
		c.t.Fatal(err)
	}
	return m, said
}

// A pod on each node, by a DaemonSet. One node compares each packet with 30,000 rules and is named, although
// its round trips may not end within a window. On another no pod finds room, which is said and is no fault of
// it.
func testMesh(t *testing.T) {
	c := start(t, "--datapath", "flannel", "--nodes", "6")
	many := "add table ip many\nadd chain ip many in { type filter hook prerouting priority 0; }\n" + strings.Repeat("add rule ip many in ip saddr 9.9.9.9 drop\n", 30_000)
	rules := filepath.Join(t.TempDir(), "many.nft")
	if err := os.WriteFile(rules, []byte(many), 0o644); err != nil {
		t.Fatal(err)
	}
	c.atHost("h3", "nft", "-f", rules)
	c.fill("h6")
	c.killMesh()
	m, said := c.mesh()
	var named []string
	for _, n := range m.Mesh.Named {
		named = append(named, n.Kind+" "+strings.Join(n.Of, " "))
	}
	if !slices.Equal(named, []string{"node h3"}) {
		t.Errorf("named %q, want node h3 alone: %s", named, said)
	}
	unreached := "unreached: node h6: no pod runs there: Unschedulable: "
	if !slices.ContainsFunc(m.Warnings, func(w string) bool { return strings.HasPrefix(w, unreached) && strings.Contains(w, "Insufficient cpu") }) {
		t.Errorf("warnings %q have no %q with the scheduler's words", m.Warnings, unreached)
	}
	if !slices.ContainsFunc(m.Facts, func(f string) bool { return strings.HasPrefix(f, "node h1, h2, h3, h4, h5, h6: Linux ") }) {
		t.Errorf("facts %q do not say what the nodes are", m.Facts)
	}
	c.testMeshOnHosts()
	c.testMeshByItself()
	for _, wrong := range []struct{ args, want string }{
		{"--nodes h1,h2,h3", "3 nodes take pods (h1, h2, h3), and 4 are needed"},
		{"--image localhost/nothing:1 --nodes h1,h2,h3,h4", "look whether its nodes can pull the image"},
	} {
		_, said, status := c.tare(c.kubeconfig, append([]string{"mesh", "--site", "kubernetes"}, strings.Fields(wrong.args)...)...)
		if status == 0 || !strings.Contains(said, wrong.want) {
			t.Errorf("%s: status %d: %s, want %q", wrong.args, status, said, wrong.want)
		}
	}
	c.until("tare clean has removed the mesh that was killed", func() bool {
		out, said, status := c.tare(c.kubeconfig, "clean", "--site", "kubernetes")
		if status != 0 {
			t.Fatalf("tare clean: status %d: %s", status, said)
		}
		return strings.Contains(out, "removing namespace")
	})
	c.left()
}

// fill takes all room for pods on a node.
func (c cluster) fill(node string) {
	c.t.Helper()
	room := c.kubectl("", "get", "node", node, "-o", "jsonpath={.status.allocatable.cpu}")
	c.kubectl(fmt.Sprintf(`{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "full", "namespace": "default"}, "spec": {"nodeName": %q,
		"terminationGracePeriodSeconds": 0, "containers": [{"name": "full", "image": "localhost/busybox:lab", "imagePullPolicy": "Never",
		"command": ["sleep", "1h"], "resources": {"requests": {"cpu": %q}}}]}}`, node, room), "apply", "-f", "-")
}

// testMeshOnHosts measures the nodes' own networks, in a namespace that is there and stays.
func (c cluster) testMeshOnHosts() {
	c.t.Helper()
	c.kubectl("", "create", "namespace", "mine")
	defer c.kubectl("", "delete", "namespace", "mine")
	m, said := c.mesh("--on-hosts", "--namespace", "mine", "--nodes", "h1,h2,h4,h5", "--blocks", "1")
	if len(m.Mesh.Nodes) != 4 || len(m.Warnings) > 0 {
		c.t.Errorf("nodes %+v, warnings %q: %s", m.Mesh.Nodes, m.Warnings, said)
	}
	if left := c.kubectl("", "get", "daemonsets,pods", "-n", "mine", "-o", "name"); left != "" {
		c.t.Errorf("left: %s", left)
	}
}

// testMeshByItself has the cluster run a mesh by itself, as what is printed asks. Its log is the
// result.
func (c cluster) testMeshByItself() {
	c.t.Helper()
	image := c.giveImage("h1", "h2", "h3", "h4", "h5")
	text, said, status := c.tare(c.kubeconfig, "mesh", "--site", "kubernetes", "--nodes", "h1,h2,h3,h4,h5", "--image", image, "--every", "1m")
	if status != 0 {
		c.t.Fatalf("tare mesh --every: status %d: %s", status, said)
	}
	c.kubectl(text, "apply", "-f", "-")
	defer c.kubectl(text, "delete", "-f", "-")
	of := func(field string) string {
		return c.kubectl("", "get", "jobs", "-n", "tare-mesh", "-o", "jsonpath={.items[0].status."+field+"}")
	}
	c.until("a mesh was begun", func() bool { return c.kubectl("", "get", "jobs", "-n", "tare-mesh", "-o", "name") != "" })
	c.until("a mesh has ended", func() bool { return of("succeeded")+of("failed") != "" })
	first := c.kubectl("", "get", "jobs", "-n", "tare-mesh", "-o", "jsonpath={.items[0].metadata.name}") // the next may have begun
	log := c.kubectl("", "logs", "-n", "tare-mesh", "job/"+first)
	var m meshed
	if err := json.Unmarshal([]byte(log), &m); err != nil || len(m.Mesh.Nodes) != 5 {
		c.t.Errorf("%d nodes in its log, %v: %s", len(m.Mesh.Nodes), err, log)
	}
}

// killMesh kills a mesh under way. Its pods end when nobody has used them for a while, and the
// cluster starts them again, by which tare clean knows them.
func (c cluster) killMesh() {
	c.t.Helper()
	cmd := exec.Command(os.Getenv("TARE_BINARY"), "mesh", "--site", "kubernetes", "--nodes", "h1,h2,h3,h4")
	cmd.Env = append(os.Environ(), "KUBECONFIG="+c.kubeconfig)
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.until("the pods run", func() bool {
		return len(strings.Fields(c.kubectl("", "get", "pods", "-A", "-l", "tare.run", "--field-selector=status.phase=Running", "-o", "name"))) == 4
	})
	if out, said, _ := c.tare(c.kubeconfig, "clean", "--site", "kubernetes"); !strings.Contains(out, "nothing is left") {
		c.t.Errorf("while it runs, tare clean: %s%s", out, said)
	}
	if err := cmd.Process.Kill(); err != nil {
		c.t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
}
