package network

import (
	"context"
	"fmt"
	"io"
	"net"
)

// LookUpVerb is the hidden command by which the binary asks its container's
// name server: LookUpVerb NAME.
const LookUpVerb = "lookup"

// LookUp writes the IPv4 addresses of a name, each on a line, as the name
// servers of /etc/resolv.conf give them.
func LookUp(ctx context.Context, name string, out io.Writer) error {
	resolver := net.Resolver{PreferGo: true} // an image of this binary alone has no C library's files
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
