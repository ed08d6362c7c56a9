package network

import (
	"fmt"
	"strings"

	"tare/lab"
)

// ipMasq is the parameter whether what leaves the containers' network is
// masqueraded.
const ipMasq = "ip_masq"

func masqueradeParam() Param {
	return Param{Name: ipMasq, Doc: "masquerade what leaves the containers' network", Values: []string{"on", "off"}, List: true}
}

// flannelRulesStand tells whether flanneld has laid its iptables rules, which
// it does beside all else.
func flannelRulesStand(h *lab.Host, masquerade bool) error {
	want := [][2]string{{"filter", "FLANNEL-FWD"}}
	if masquerade {
		want = append(want, [2]string{"nat", "FLANNEL-POSTRTG"})
	}
	for _, rule := range want {
		laid, err := askIptables(h, "-t", rule[0], "-S")
		if err != nil {
			return err
		}
		// The jump is the first that it lays and each has its end in the chain.
		if !strings.Contains(laid, "-j "+rule[1]) || !strings.Contains(laid, "-A "+rule[1]+" ") {
			return fmt.Errorf("flanneld has not laid its rules in %s yet", rule[1])
		}
	}
	return nil
}

// tryFlannelRules lays such rules as flanneld does.
func tryFlannelRules(cluster *lab.Cluster) error {
	_, err := askIptables(cluster.Hosts[0], "-t", "nat", "-A", "POSTROUTING", "-m", "mark", "--mark", "0x4000/0x4000",
		"-m", "comment", "--comment", "flanneld masq", "-j", "MASQUERADE", "--random-fully")
	return err
}

// askIptables runs the command in a host; it waits for who else changes rules.
func askIptables(h *lab.Host, args ...string) (string, error) {
	path, err := Program("iptables")
	if err != nil {
		return "", err
	}
	return h.Run(append([]string{path, "-w"}, args...)...)
}
