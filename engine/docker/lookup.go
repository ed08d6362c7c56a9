package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"time"

	"tare/lab"
)

// LookUpVerb is the hidden command by which the binary, in a container, queries
// the container's name server: LookUpVerb NAME.
const LookUpVerb = "lookup"

const (
	lookUpTimeout = time.Second // of one query
	nameWait      = time.Minute // how long the engines may take to exchange a name
	nameStep      = 50 * time.Millisecond
)

// LookUp writes the IPv4 addresses of a name, one a line, as the name servers of
// /etc/resolv.conf answer.
func LookUp(ctx context.Context, name string, out io.Writer) error {
	// For a name that it does not know yet, Docker's server queries servers outside
	// the lab, which never answer.
	ctx, cancel := context.WithTimeout(ctx, lookUpTimeout)
	defer cancel()
	resolver := net.Resolver{PreferGo: true} // the image of a lab's containers lacks the C library's files
	addresses, err := resolver.LookupNetIP(ctx, "ip4", name)
	if err != nil {
		return fmt.Errorf("look up %s: %w", name, err)
	}
	for _, addr := range addresses {
		if _, err := fmt.Fprintln(out, addr.Unmap()); err != nil {
			return err
		}
	}
	return nil
}

// AwaitName waits until Docker's name server, queried in a container of the host,
// resolves a name to an address.
func AwaitName(h *lab.Host, container, name string, want netip.Addr) error {
	var text string
	var err error
	for deadline := time.Now().Add(nameWait); time.Now().Before(deadline); time.Sleep(nameStep) {
		text, err = Command(h, "exec", container, lab.SelfInImage, LookUpVerb, name)
		if strings.TrimSpace(text) == want.String() {
			return nil
		}
	}
	return errors.Join(fmt.Errorf("ask Docker's name server in %s for %s: it answers %q, want %s", h.Name, name, strings.TrimSpace(text), want), err)
}
