package real

import (
	"fmt"
	"slices"
	"strings"
)

const nodePort = "10.0.0.1:30080"

// testServes has a server on each node, and asks it from everywhere.
func (c cluster) testServes(v variant) {
	c.t.Helper()
	var nodes []string
	for n := range v.nodes {
		nodes = append(nodes, fmt.Sprintf("h%d", n+1))
	}
	c.testNodes(nodes)
	pods := c.testPods(nodes)
	c.testExec(pods["h2"].name)
	c.testReach(pods, nodes)
	if v.datapath == "bridge" {
		c.testRules(v.nodes, v.proxy)
	}
	if again := c.up(v.flags()...); again != c.kubeconfig {
		c.t.Errorf("a second up names %s, the first %s", again, c.kubeconfig)
	}
	if _, err := c.run("up", "--name", c.name, "--nodes", fmt.Sprint(5-v.nodes)); err == nil {
		c.t.Error("another cluster of that name was accepted beside it")
	}
}

// All nodes are ready, in a zone, and list the image.
func (c cluster) testNodes(nodes []string) {
	c.t.Helper()
	const columns = `jsonpath={range .items[*]}{.metadata.name} {.metadata.labels.topology\.kubernetes\.io/zone}` +
		` {.status.conditions[?(@.type=="Ready")].status} {.status.images[*].names}{"\n"}{end}`
	got := strings.Split(c.kubectl("", "get", "nodes", "-o", columns), "\n")
	for n, line := range got {
		if n >= len(nodes) || !strings.HasPrefix(line, nodes[n]+" z1 True ") || !strings.Contains(line, "localhost/busybox:lab") {
			c.t.Errorf("node %d is %q", n, line)
		}
	}
	if len(got) != len(nodes) {
		c.t.Errorf("%d nodes, want %d", len(got), len(nodes))
	}
}

// pod is a server of the manifest.
type pod struct{ name, addr string }

// testPods runs a server on each node and returns them by node.
func (c cluster) testPods(nodes []string) map[string]pod {
	c.t.Helper()
	c.kubectl(manifest, "apply", "-f", "-")
	c.kubectl("", "rollout", "status", "daemonset/web", "--timeout=60s")
	lines := c.kubectl("", "get", "pods", "-l", "app=web", "-o",
		`jsonpath={range .items[*]}{.spec.nodeName} {.metadata.name} {.status.podIP}{"\n"}{end}`)
	pods := map[string]pod{}
	for _, line := range strings.Split(lines, "\n") {
		if fields := strings.Fields(line); len(fields) == 3 {
			pods[fields[0]] = pod{fields[1], fields[2]}
		}
	}
	if len(pods) != len(nodes) {
		c.t.Fatalf("pods are\n%s", lines)
	}
	return pods
}

func (c cluster) testExec(name string) {
	c.t.Helper()
	const text = "to the pod and back"
	if got := c.kubectl(text, "exec", "-i", name, "--", "cat"); got != text {
		c.t.Errorf("exec cat returned %q", got)
	}
}

// Each pod reaches each other one, and all of them through the service.
func (c cluster) testReach(pods map[string]pod, nodes []string) {
	c.t.Helper()
	for _, from := range nodes {
		for _, to := range nodes {
			got := c.kubectl("", "exec", pods[from].name, "--", "timeout", "5", "wget", "-qO-", "http://"+pods[to].addr+":80/")
			if got != to {
				c.t.Errorf("the pod of %s read %q from the pod of %s", from, got, to)
			}
		}
	}
	service := c.kubectl("", "get", "service", "web", "-o", "jsonpath={.spec.clusterIP}") + ":80"
	// Not wget -T: Debian's static busybox crashes on it.
	const many = `for n in $(seq 60); do timeout 5 wget -qO- http://$0/; done; true`
	for what, ask := range map[string]func() string{
		"ClusterIP from a pod": func() string { return c.kubectl("", "exec", pods["h1"].name, "--", "sh", "-c", many, service) },
		"NodePort from a host": func() string {
			return c.atHost("h2", "sh", "-c", strings.Replace(many, "wget", "busybox wget", 1), nodePort)
		},
	} {
		// What serves on a node learns of another pod a while after that is ready.
		c.until("60 requests for the "+what+" reach every pod", func() bool {
			got := strings.Fields(ask())
			if len(got) != 60 {
				c.t.Logf("%s: %d answers of 60", what, len(got))
				return false
			}
			slices.Sort(got)
			return slices.Equal(slices.Compact(got), nodes)
		})
	}
}
