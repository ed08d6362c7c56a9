package real

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
)

// testRules compares the rules of kube-proxy with those of tare's network of its mode, chain by
// chain, without names, addresses and ports. The Service of the manifest has an endpoint on
// each node.
func (c cluster) testRules(endpoints int, proxy string) {
	c.t.Helper()
	network := "service-" + proxy
	ours := cluster{t: c.t, name: c.name + "-rules"}
	defer ours.down()
	if out, err := exec.Command(os.Getenv("TARE_BINARY"), "lab", "up", network, "--name", ours.name, "--backends", fmt.Sprint(endpoints)).CombinedOutput(); err != nil {
		c.t.Fatalf("build %s: %v: %s", network, err, out)
	}
	read := cluster.iptables
	if proxy == "nftables" {
		read = cluster.nftables
	}
	want, got := read(c), read(ours)
	if len(want) < 5 {
		c.t.Errorf("kube-proxy has only the chains %v", slices.Sorted(maps.Keys(want)))
	}
	for _, chain := range slices.Sorted(maps.Keys(want)) {
		if !slices.Equal(got[chain], want[chain]) {
			c.t.Errorf("%s of %s:\n%s\nkube-proxy has:\n%s", chain, network, strings.Join(got[chain], "\n"), strings.Join(want[chain], "\n"))
		}
	}
	for chain := range got {
		if _, has := want[chain]; !has {
			c.t.Errorf("kube-proxy has no %s:\n%s", chain, strings.Join(got[chain], "\n"))
		}
	}
}

// What a rule is the same without.
var (
	comment  = regexp.MustCompile(` (-m comment --)?comment ("[^"]*"|\S+)`)
	counted  = regexp.MustCompile(` -m nfacct --nfacct-name\s+\S+`)
	protocol = regexp.MustCompile(`(-p|-m|l4proto) udp\b`)
	address  = regexp.MustCompile(`\b(?:10|172)\.\d+\.\d+\.\d+(/\d+)?(:\d+)?`)
	port     = regexp.MustCompile(`--dport \d+|(ADDRESS) \. \d+`)
	hash     = regexp.MustCompile(`(KUBE-(SVC|SEP|EXT))-[A-Z2-7]{16}|\b(service|external)-[A-Z2-7]{8}-[^\s;]+`)
	elements = regexp.MustCompile(`(?s)\n\s*elements = \{.*?\}`)
)

func alike(rule string) string {
	rule = counted.ReplaceAllString(comment.ReplaceAllString(rule, ""), "")
	rule = address.ReplaceAllString(protocol.ReplaceAllString(rule, "$1 tcp"), "ADDRESS")
	return strings.TrimSpace(hash.ReplaceAllString(port.ReplaceAllString(rule, "$1 PORT"), "$1$3"))
}

// iptables are the rules by which kube-proxy's chains are reached and made of, by table and
// chain, each once and in their order; those of a Service, of which there are several, sorted.
func (c cluster) iptables() map[string][]string {
	c.t.Helper()
	chains, table := map[string][]string{}, ""
	for line := range strings.Lines(c.atHost("h1", "iptables-save")) {
		if name, found := strings.CutPrefix(line, "*"); found {
			table = strings.TrimSpace(name)
		}
		if strings.Contains(line, "localhost_nps_accepted_pkts") {
			continue // it is there to count: the rule without it does the same
		}
		words := strings.Fields(alike(line))
		if len(words) < 2 || words[0] != "-A" || !strings.Contains(line, "KUBE-") || strings.Contains(line, "KUBE-KUBELET") {
			continue
		}
		chain, rule := table+" "+words[1], strings.Join(words[2:], " ")
		if !slices.Contains(chains[chain], rule) {
			chains[chain] = append(chains[chain], rule)
		}
	}
	slices.Sort(chains["nat KUBE-SVC"])
	return chains
}

// nftables are the chains, sets and maps of kube-proxy's table, without the elements.
func (c cluster) nftables() map[string][]string {
	c.t.Helper()
	chains, name := map[string][]string{}, ""
	for line := range strings.Lines(elements.ReplaceAllString(c.atHost("h1", "nft", "list", "table", "ip", "kube-proxy"), "")) {
		rule := alike(line)
		if begun, found := strings.CutSuffix(rule, " {"); found {
			name = begun
		} else if rule != "" && rule != "}" && !slices.Contains(chains[name], rule) {
			chains[name] = append(chains[name], rule)
		}
	}
	for _, of := range chains {
		slices.Sort(of)
	}
	return chains
}
