package real

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// weighed is what is read of a result.
type weighed struct {
	Facts, Warnings []string
	Cells           []struct{ Network, Path, Status, Reason string }
	Pairs           []struct {
		Machines []string
		Reason   string
	}
	Comparisons []struct{ Along string }
}

// paths are those of a cluster with two nodes.
func paths() []string {
	return []string{
		"cluster-ip", "container-to-host", "container-to-node-port", "container-to-own-host", "cross-host", "hairpin", "host-to-cluster-ip", "host-to-container", "node-port", "same-host",
	}
}

// tare runs tare with some kubeconfig, and gives what it printed and its exit status.
func (c cluster) tare(kubeconfig string, args ...string) (out, said string, status int) {
	c.t.Helper()
	cmd := exec.Command(os.Getenv("TARE_BINARY"), args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	var ended *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &ended) {
		c.t.Fatalf("tare %s: %v", strings.Join(args, " "), err)
	}
	return stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
}

// weigh measures round trips for a moment, in windows: the CPUs are busy with other clusters, so
// that slots of a few milliseconds may all begin late.
func (c cluster) weigh(args ...string) (w weighed, said string) {
	c.t.Helper()
	out, said, status := c.tare(c.kubeconfig, append([]string{"run", "--site", "kubernetes", "--workloads", "tcp_rr", "--blocks", "1", "--design", "windows", "--json"}, args...)...)
	if status != 0 {
		c.t.Fatalf("tare run: status %d: %s", status, said)
	}
	if err := json.Unmarshal([]byte(out), &w); err != nil {
		c.t.Fatal(err)
	}
	return w, said
}

// carried are the paths on which pods were measured.
func (w weighed) carried() (all []string) {
	for _, cell := range w.Cells {
		if cell.Network == "pods" && cell.Status == "ok" {
			all = append(all, cell.Path)
		}
	}
	slices.Sort(all)
	return all
}

// left fails if something of a run is in the cluster.
func (c cluster) left() {
	c.t.Helper()
	for _, kind := range []string{"namespaces", "daemonsets", "replicasets", "pods", "services", "networkpolicies", "configmaps"} {
		if names := c.kubectl("", "get", kind, "-A", "-l", "tare.run", "-o", "name"); names != "" {
			c.t.Errorf("left in the cluster: %s", names)
		}
	}
}

// testWeighed measures on every path.
func (c cluster) testWeighed(v variant) {
	c.t.Helper()
	w, said := c.weigh()
	if got := w.carried(); !slices.Equal(got, paths()) {
		c.t.Errorf("pods were measured on %v, want %v: %s", got, paths(), said)
	}
	for _, fact := range []string{v.fact, "network policies are not enforced: h1/c1 reached h1/c2, which one of them closed"} {
		if !slices.ContainsFunc(w.Facts, func(f string) bool { return strings.Contains(f, fact) }) {
			c.t.Errorf("facts %q have no %q", w.Facts, fact)
		}
	}
	if v.datapath == "flannel" {
		c.testPairs()
		c.testLoad()
		c.testTrace()
	} else {
		c.testImage()
		c.testChange()
	}
	c.left()
	if out, said, status := c.tare(c.kubeconfig, "clean", "--site", "kubernetes"); status != 0 || !strings.Contains(out, "nothing is left") {
		c.t.Errorf("tare clean: status %d: %s%s", status, out, said)
	}
}

// testPairs measures two pairs of three nodes, which tare chooses. Each is a block.
func (c cluster) testPairs() {
	c.t.Helper()
	w, said := c.weigh("--pairs", "2", "--paths", "cross-host")
	if len(w.Pairs) != 2 || w.Pairs[0].Reason+w.Pairs[1].Reason != "" || slices.Equal(w.Pairs[0].Machines, w.Pairs[1].Machines) {
		c.t.Errorf("pairs are %+v: %s", w.Pairs, said)
	}
	if got := w.carried(); !slices.Equal(got, []string{"cross-host"}) {
		c.t.Errorf("pods were measured on %v: %s", got, said)
	}
}

// testLoad has a cluster carry more while it is measured.
func (c cluster) testLoad() {
	c.t.Helper()
	w, said := c.weigh("--services", "50", "--policies", "5", "--pods", "4", "--paths", "cluster-ip", "--duration", "50ms")
	want := "load that this run adds: 50 Services, 5 NetworkPolicies about the measured pods, 4 pods on their nodes"
	if got := w.carried(); !slices.Equal(got, []string{"cluster-ip"}) || !slices.Contains(w.Facts, want) {
		c.t.Errorf("pods were measured on %v, facts %q: %s", got, w.Facts, said)
	}
	_, said, status := c.tare(c.kubeconfig, "run", "--site", "kubernetes", "--policies", "many")
	if status != 2 || !strings.Contains(said, "--policies many") {
		c.t.Errorf("--policies many: status %d: %s", status, said)
	}
}

// testTrace follows packets through the nodes, which privileged pods see.
func (c cluster) testTrace() {
	c.t.Helper()
	out, said, status := c.tare(c.kubeconfig, "trace", "--site", "kubernetes", "--probe-nodes", "--paths", "cross-host", "--workloads", "tcp_rr", "--json")
	type tracedCell struct {
		Network string
		Trace   struct {
			Tier int
			Hops []struct{ At, Device string }
		}
	}
	var traced struct{ Cells []tracedCell }
	if err := json.Unmarshal([]byte(out), &traced); status != 0 || err != nil {
		c.t.Fatalf("tare trace: status %d, %v: %s", status, err, said)
	}
	if !slices.ContainsFunc(traced.Cells, func(c tracedCell) bool { return c.Network == "pods" }) {
		c.t.Errorf("the pods' network was not traced: %s", said)
	}
	for _, cell := range traced.Cells {
		tunnel := slices.ContainsFunc(cell.Trace.Hops, func(h struct{ At, Device string }) bool { return h.Device == "flannel.1" })
		if cell.Network == "pods" && (cell.Trace.Tier < 1 || !tunnel) {
			c.t.Errorf("tier %d, hops %+v, want those of flannel.1 too: %s", cell.Trace.Tier, cell.Trace.Hops, said)
		}
	}
}

// testChange measures before and after a change, between nodes that tare has chosen.
func (c cluster) testChange() {
	c.t.Helper()
	folder := c.t.TempDir()
	before, after := filepath.Join(folder, "before.json"), filepath.Join(folder, "after.json")
	args := []string{"run", "--site", "kubernetes", "--before", before, "--after", after}
	once := append(slices.Clone(args), "--paths", "cross-host", "--workloads", "tcp_rr", "--blocks", "6", "--duration", "50ms", "--design", "windows")
	if out, said, status := c.tare(c.kubeconfig, once...); status != 0 || !strings.Contains(out, "before.json is the state before") {
		c.t.Fatalf("before: status %d: %s%s", status, out, said)
	}
	out, said, status := c.tare(c.kubeconfig, args...)
	if status != 0 || !strings.Contains(out, "\nold: "+before) || !strings.Contains(out, "\n  pods ") {
		c.t.Fatalf("after: status %d: %s%s", status, out, said)
	}
	var on [2]struct {
		Places []struct{ Name, Machine string }
		Plan   struct{ Paths []string }
	}
	for n, file := range []string{before, after} {
		text, err := os.ReadFile(file)
		if err != nil {
			c.t.Fatal(err)
		}
		if err := json.Unmarshal(text, &on[n]); err != nil {
			c.t.Fatal(err)
		}
	}
	if len(on[0].Places) != 2 || !slices.Equal(on[0].Places, on[1].Places) || !slices.Equal(on[0].Plan.Paths, on[1].Plan.Paths) {
		c.t.Errorf("before on %+v, after on %+v", on[0], on[1])
	}
}

// testImage runs an image of tare, in which there is no shell.
func (c cluster) testImage() {
	c.t.Helper()
	name := c.giveImage("h1", "h2")
	if w, said := c.weigh("--image", name); !slices.Equal(w.carried(), paths()) {
		c.t.Errorf("with %s pods were measured on %v: %s", name, w.carried(), said)
	}
}

// giveImage gives nodes an image of tare, and says what it is called.
func (c cluster) giveImage(nodes ...string) (name string) {
	c.t.Helper()
	image := filepath.Join(c.t.TempDir(), "tare.tar")
	if _, said, status := c.tare(c.kubeconfig, "image", image); status != 0 {
		c.t.Fatalf("tare image: %s", said)
	}
	for _, node := range nodes {
		said := c.atHost(node, "ctr", "--address", "/run/tare/containerd/containerd.sock", "--namespace", "k8s.io", "images", "import", image)
		name = strings.Fields(strings.TrimPrefix(said, "unpacking "))[0]
	}
	return name
}

func testSiteNamesWhatIsMissing(t *testing.T) {
	c := start(t)
	for _, of := range []struct {
		name string
		test func(cluster)
	}{
		{"rights", cluster.testRights}, {"host", cluster.testNoHost}, {"quota", cluster.testQuota}, {"room", cluster.testNoRoom}, {"killed", cluster.testKilled},
	} {
		t.Run(of.name, func(t *testing.T) { of.test(c.in(t)) })
	}
	for _, wrong := range []struct{ args, want string }{
		{"--nodes h9", "node h9: the cluster has none of that name: take some of h1, h2"},
		{"--selector a=b", "none has those labels"},
		{"--context nowhere", `context "nowhere" does not exist`},
		{"--image localhost/nothing:1", "look whether its nodes can pull the image"},
	} {
		_, said, status := c.tare(c.kubeconfig, append([]string{"run", "--site", "kubernetes"}, strings.Fields(wrong.args)...)...)
		if status == 0 || !strings.Contains(said, wrong.want) {
			t.Errorf("%s: status %d: %s, want %q", wrong.args, status, said, wrong.want)
		}
	}
	c.left()
}

// role is what tare says that it needs.
type role struct {
	Rules []struct{ Resources, Verbs []string }
}

// testRights takes each right of the role that the dry run prints away in turn; with all of it a
// run measures.
func (c cluster) testRights() {
	out, said, status := c.tare(c.kubeconfig, "run", "--site", "kubernetes", "--dry-run")
	if status != 0 {
		c.t.Fatal(said)
	}
	text, _, _ := strings.Cut(strings.TrimPrefix(out, "---\n"), "---\n")
	c.kubectl(text, "apply", "-f", "-")
	c.kubectl("", "create", "serviceaccount", "limited", "-n", "default")
	c.kubectl("", "create", "clusterrolebinding", "limited", "--clusterrole=tare", "--serviceaccount=default:limited")
	limited := c.as("limited")
	var r role
	if err := json.Unmarshal([]byte(c.kubectl("", "get", "clusterrole", "tare", "-o", "json")), &r); err != nil {
		c.t.Fatal(err)
	}
	for n, rule := range r.Rules {
		for m, verb := range rule.Verbs {
			c.kubectl("", "patch", "clusterrole", "tare", "--type=json", "-p", fmt.Sprintf(`[{"op":"replace","path":"/rules/%d/verbs/%d","value":"watch"}]`, n, m))
			_, said, status := c.tare(limited, "run", "--site", "kubernetes")
			want := verb + " " + rule.Resources[0] + ": "
			if status == 0 || !strings.Contains(said, want) && !strings.Contains(said, `cannot list resource "nodes"`) {
				c.t.Errorf("without %s: status %d: %s", want, status, said)
			}
			c.kubectl("", "patch", "clusterrole", "tare", "--type=json", "-p", fmt.Sprintf(`[{"op":"replace","path":"/rules/%d/verbs/%d","value":%q}]`, n, m, verb))
		}
	}
	if _, said, status := c.tare(limited, "run", "--site", "kubernetes", "--workloads", "tcp_rr", "--blocks", "1", "--design", "windows", "--paths", "same-host", "--json"); status != 0 {
		c.t.Errorf("with all rights: status %d: %s", status, said)
	}
}

// as is a kubeconfig of a service account.
func (c cluster) as(account string) string {
	c.t.Helper()
	var config map[string]any
	if err := json.Unmarshal([]byte(c.kubectl("", "config", "view", "--raw", "-o", "json")), &config); err != nil {
		c.t.Fatal(err)
	}
	user := config["users"].([]any)[0].(map[string]any)
	user["user"] = map[string]any{"token": c.kubectl("", "create", "token", account, "-n", "default")}
	text, err := json.Marshal(config)
	if err != nil {
		c.t.Fatal(err)
	}
	path := filepath.Join(c.t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		c.t.Fatal(err)
	}
	return path
}

// testNoHost runs in a namespace that allows no pod on a node's network.
func (c cluster) testNoHost() {
	c.kubectl("", "create", "namespace", "mine")
	defer c.kubectl("", "delete", "namespace", "mine")
	c.kubectl("", "label", "namespace", "mine", "pod-security.kubernetes.io/enforce=restricted")
	w, said := c.weigh("--namespace", "mine")
	want := []string{"cluster-ip", "container-to-node-port", "cross-host", "hairpin", "same-host"}
	if got := w.carried(); !slices.Equal(got, want) || len(w.Comparisons) != 1 || w.Comparisons[0].Along != "path" {
		c.t.Errorf("pods were measured on %v, want %v, held against another path: %s", got, want, said)
	}
	if !slices.ContainsFunc(w.Warnings, func(text string) bool { return strings.Contains(text, "no host baseline") }) {
		c.t.Errorf("warnings %q do not say that there are no hosts", w.Warnings)
	}
	if names := c.kubectl("", "get", "pods,services", "-n", "mine", "-o", "name"); names != "" {
		c.t.Errorf("left: %s", names)
	}
}

// testQuota runs in a namespace that takes no pod.
func (c cluster) testQuota() {
	c.kubectl("", "create", "namespace", "full")
	defer c.kubectl("", "delete", "namespace", "full")
	c.kubectl("", "create", "quota", "none", "-n", "full", "--hard=pods=0")
	_, said, status := c.tare(c.kubeconfig, "run", "--site", "kubernetes", "--namespace", "full")
	if status == 0 || !strings.Contains(said, "exceeded quota: none") {
		c.t.Errorf("status %d: %s", status, said)
	}
}

// testNoRoom has nodes refuse pods.
func (c cluster) testNoRoom() {
	c.kubectl("", "cordon", "h1", "h2")
	_, said, status := c.tare(c.kubeconfig, "run", "--site", "kubernetes")
	c.kubectl("", "uncordon", "h1", "h2")
	if status == 0 || !strings.Contains(said, "h1 is cordoned") {
		c.t.Errorf("with both nodes cordoned: status %d: %s", status, said)
	}
	c.kubectl("", "taint", "node", "h1", "team=a:NoSchedule")
	_, said, status = c.tare(c.kubeconfig, "run", "--site", "kubernetes", "--nodes", "h1")
	if status == 0 || !strings.Contains(said, "--tolerations team allows it") {
		c.t.Errorf("with a taint: status %d: %s", status, said)
	}
	if w, said := c.weigh("--nodes", "h1", "--tolerations", "team"); !slices.Contains(w.carried(), "same-host") {
		c.t.Errorf("a pod that tolerates it was not measured: %s", said)
	}
	c.kubectl("", "taint", "node", "h1", "team-")
}

// testKilled kills a run, whose pods end by themselves and whose rest tare clean removes.
func (c cluster) testKilled() {
	out := filepath.Join(c.t.TempDir(), "result.json")
	cmd := exec.Command(os.Getenv("TARE_BINARY"), append([]string{"run", "--site", "kubernetes", "--out", out}, twoPaths...)...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+c.kubeconfig)
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.until("the pods run", func() bool {
		return len(strings.Fields(c.kubectl("", "get", "pods", "-A", "-l", "tare.run", "--field-selector=status.phase=Running", "-o", "name"))) == 5
	})
	c.until("a block is saved", func() bool { return saved(out) })
	if err := cmd.Process.Kill(); err != nil {
		c.t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	c.until("the pods have ended", func() bool {
		return c.kubectl("", "get", "pods", "-A", "-l", "tare.run", "--field-selector=status.phase=Running", "-o", "name") == ""
	})
	if out, said, status := c.tare(c.kubeconfig, "clean", "--site", "kubernetes"); status != 0 || strings.Count(out, "removing namespace") != 2 {
		c.t.Errorf("tare clean: status %d: %s%s", status, out, said)
	}
	c.left()
}

// until waits for something.
func (c cluster) until(what string, is func() bool) {
	c.t.Helper()
	if !soon(5*time.Minute, is) {
		c.t.Fatalf("not yet after 5 min: %s", what)
	}
}

// soon looks again and again whether something is so, for so long at most.
func soon(most time.Duration, is func() bool) bool {
	limit, look := time.After(most), time.Tick(100*time.Millisecond)
	for !is() {
		select {
		case <-look:
		case <-limit:
			return false
		}
	}
	return true
}
