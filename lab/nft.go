package lab

import (
	"errors"
	"fmt"

	"github.com/google/nftables"
)

// Nftables changes the namespace's ruleset: what rules adds to the connection is
// applied in one transaction. One change waits for the other, since a rule that is
// removed while a chain is listed moves the others up: the list then lacks one.
func (ns *Namespace) Nftables(rules func(*nftables.Conn)) error {
	ns.nft.Lock()
	defer ns.nft.Unlock()
	conn, err := nftables.New(nftables.WithNetNSFd(int(ns.net.Fd())), nftables.AsLasting())
	if err != nil {
		return fmt.Errorf("open nftables in %s: %w", ns.Name, err)
	}
	rules(conn)
	err = conn.Flush()
	if err != nil {
		err = fmt.Errorf("add nftables rules in %s: %w", ns.Name, err)
	}
	return errors.Join(err, conn.CloseLasting())
}

// DropRules removes the rules of a chain that carry a mark: those that were added
// with it as their user data.
func (ns *Namespace) DropRules(chain *nftables.Chain, mark string) error {
	var listed error
	err := ns.Nftables(func(conn *nftables.Conn) {
		var rules []*nftables.Rule
		rules, listed = conn.GetRules(chain.Table, chain)
		for _, rule := range rules {
			if string(rule.UserData) == mark {
				listed = errors.Join(listed, conn.DelRule(rule))
			}
		}
	})
	if listed != nil {
		listed = fmt.Errorf("drop nftables rules in %s: %w", ns.Name, listed)
	}
	return errors.Join(listed, err)
}
