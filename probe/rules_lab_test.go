package probe

import (
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"runtime"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// written are rules as people type them, and what is read of them. Each is alone in its chain.
func written() map[string]string {
	return map[string]string{
		"nft ip daddr 10.102.0.0/20 tcp dport { 22, 80-90 } counter drop":                    "ip daddr = 10.102.0.0/20; meta l4proto = tcp; th dport = { 22, 80-90 } -> counter; drop",
		"nft iifname != br0 ip saddr 10.101.0.0/16 reject":                                   "iifname != br0; ip saddr = 10.101.0.0/16 -> reject",
		"nft ct state vmap { established : accept, invalid : drop }":                         "ct state vmap { invalid : drop, established : accept }",
		"nft ct state new,related limit rate over 200/second drop":                           "ct state = { related, new }; limit = over 200/second -> drop",
		"nft ip frag-off & 0x3fff != 0 drop":                                                 "ip frag-off & 0x3fff != 0 -> drop",
		"nft ip ttl set 1":                                                                   "-> ip ttl set 1",
		"nft tcp flags syn tcp option maxseg size set 500":                                   "meta l4proto = tcp; @2,104,8 & 0x2 != 0 -> tcp maxseg set 500",
		"nft fib saddr . iif oif missing drop":                                               "fib = 0 -> drop",
		"nft iifname \"wg*\" udp dport > 1000 drop":                                          "iifname = wg*; meta l4proto = udp; th dport = 1001-65535 -> drop",
		"nft ip daddr . meta l4proto . th dport vmap { 10.0.0.2 . tcp . 5210 : drop }":       "ip daddr . meta l4proto . th dport vmap { 10.0.0.2 . tcp . 5210 : drop }",
		"nft ip saddr { 10.1.0.0/16, 192.0.2.7 } drop":                                       "ip saddr = { 10.1.0.0-10.1.255.255, 192.0.2.7 } -> drop",
		"nft numgen random mod 100 < 2 drop":                                                 "numgen = 0-1 -> drop",
		"iptables -p tcp -m multiport --dports 22,80:90 -m conntrack --ctstate NEW -j DROP":  "meta l4proto = tcp; th dport = { 22, 80-90 }; ct state = new -> counter; drop",
		"iptables -s 10.0.0.0/8 ! -i eth0 -o br+ -p udp --dport 53 -j NFQUEUE --queue-num 7": "iifname != eth0; oifname = br*; meta l4proto = udp; ip saddr = 10.0.0.0/8; th dport = 53 -> counter; queue 7",
		"iptables -m limit --limit 5/s -j ACCEPT":                                            "limit = 5/second -> counter; accept",
		"iptables -m statistic --mode random --probability 0.05 -j DROP":                     "numgen = ? -> counter; drop",
		"nft fib daddr type local tcp dport 80 accept":                                       "fib daddr type = local; meta l4proto = tcp; th dport = 80 -> accept",
		"nft tcp dport 53 notrack":                                                           "meta l4proto = tcp; th dport = 53 -> notrack",
		"iptables -m addrtype --dst-type LOCAL -j RETURN":                                    "fib daddr type = local -> counter; return",
		"iptables -m addrtype ! --dst-type LOCAL -j DROP":                                    "fib daddr type != local -> counter; drop",
		"iptables -m addrtype --src-type LOCAL -j DROP":                                      "addrtype = ? -> counter; drop",
		"iptables -t mangle -j TTL --ttl-set 1":                                              "-> counter; ip ttl set 1",
		"iptables -m conntrack --ctstate UNTRACKED,DNAT -j DROP":                             "ct state = { untracked, dnat } -> counter; drop",
		"iptables-legacy -s 10.101.0.0/16 -m conntrack --ctstate ESTABLISHED -j ACCEPT":      "ip saddr = 10.101.0.0/16; ct state = established -> counter; accept",
		"iptables-legacy ! -i eth0 -p tcp --dport 23 -j DROP":                                "iifname != eth0; meta l4proto = tcp; th dport = 23 -> counter; drop",
		"ip6tables-legacy -d fd00::/8 -p udp -j DROP":                                        "ip6 daddr = fd00::/8; meta l4proto = udp -> counter; drop",
	}
}

// TestLabRulesAreReadAsTheyWereWritten lets the tools write rules, in a namespace for each.
func TestLabRulesAreReadAsTheyWereWritten(t *testing.T) {
	for _, typed := range slices.Sorted(maps.Keys(written())) {
		read := make(chan error)
		go func() {
			runtime.LockOSThread() // never unlocked: the thread ends with the namespace
			read <- readAs(typed, written()[typed])
		}()
		if err := <-read; err != nil {
			t.Errorf("%s: %v", typed, err)
		}
	}
}

func readAs(typed, want string) error {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return errors.Join(errors.New("make a network namespace: this test needs root"), err)
	}
	script := `set -f; set -- $1
		tool=$1; shift
		case $tool in
		nft) nft "table ip t { chain c { type filter hook prerouting priority 0; $*; }; }" ;;
		*) table=filter; if [ "$1" = -t ]; then table=$2; shift 2; fi; $tool -t $table -A FORWARD "$@" ;;
		esac`
	if out, err := exec.Command("sh", "-ec", script, "sh", typed).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	v := newView("/")
	all, err := v.listings()
	if err != nil {
		return errors.Join(err, v.close())
	}
	var texts []string
	for _, l := range all {
		for _, one := range l.Listed {
			texts = append(texts, one.Rule.String())
		}
	}
	if !slices.Equal(texts, []string{want}) {
		err = fmt.Errorf("read %q, want %q", texts, want)
	}
	return errors.Join(err, v.close())
}
