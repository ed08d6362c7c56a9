package lab

import (
	"errors"
	"fmt"

	"github.com/google/nftables"
)

// Nftables changes the namespace's ruleset: what rules adds to the connection
// is laid in one transaction.
func (ns *Namespace) Nftables(rules func(*nftables.Conn)) error {
	conn, err := nftables.New(nftables.WithNetNSFd(int(ns.net.Fd())), nftables.AsLasting())
	if err != nil {
		return fmt.Errorf("open nftables in %s: %w", ns.Name, err)
	}
	rules(conn)
	err = conn.Flush()
	if err != nil {
		err = fmt.Errorf("lay nftables rules in %s: %w", ns.Name, err)
	}
	return errors.Join(err, conn.CloseLasting())
}
