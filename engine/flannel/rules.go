package flannel

import (
	"fmt"
	"strings"

	"tare/engine"
	"tare/lab"
)

// added fails until flanneld has added its rules, which it does concurrently with all its
// other work.
func (r Rules) added(h *lab.Host) error {
	if r.NFTables {
		return r.inTables(h)
	}
	want := [][2]string{{"filter", "FLANNEL-FWD"}}
	if r.Masquerade {
		want = append(want, [2]string{"nat", "FLANNEL-POSTRTG"})
	}
	programs := []string{"iptables"}
	if h.At().Is6() {
		programs = append(programs, "ip6tables")
	}
	for _, program := range programs {
		for _, rule := range want {
			listed, err := iptables(h, program, "-t", rule[0], "-S")
			if err != nil {
				return err
			}
			// It adds the jump to its chain first, then the chain's rules.
			if !strings.Contains(listed, "-j "+rule[1]) || !strings.Contains(listed, "-A "+rule[1]+" ") {
				return fmt.Errorf("flanneld has not added its rules of %s to %s yet", program, rule[1])
			}
		}
	}
	return nil
}

// inTables is added where flanneld has its own tables, each written in one transaction.
func (r Rules) inTables(h *lab.Host) error {
	nft, err := engine.Program("nft")
	if err != nil {
		return err
	}
	want := []string{"hook forward"}
	if r.Masquerade {
		want = append(want, "masquerade")
	}
	tables := [][2]string{{"ip", "flannel-ipv4"}}
	if h.At().Is6() {
		tables = append(tables, [2]string{"ip6", "flannel-ipv6"})
	}
	for _, table := range tables {
		listed, err := h.Run(nft, "list", "table", table[0], table[1])
		if err != nil {
			return err
		}
		for _, rule := range want {
			if !strings.Contains(listed, rule) {
				return fmt.Errorf("flanneld has not added its rules to table %s yet: %s is not there", table[1], rule)
			}
		}
	}
	return nil
}

// Try adds a rule such as flanneld's, and so reports whether the kernel has the
// netfilter that flannel needs.
func Try(h *lab.Host) error {
	_, err := iptables(h, "iptables", "-t", "nat", "-A", "POSTROUTING", "-m", "mark", "--mark", "0x4000/0x4000",
		"-m", "comment", "--comment", "flanneld masq", "-j", "MASQUERADE", "--random-fully")
	return err
}

// iptables runs iptables or ip6tables in a host. It waits for other processes that change
// rules.
func iptables(h *lab.Host, program string, args ...string) (string, error) {
	path, err := engine.Program(program)
	if err != nil {
		return "", err
	}
	return h.Run(append([]string{path, "-w"}, args...)...)
}
