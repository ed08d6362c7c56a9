package network

import (
	"context"
	"fmt"
	"io"
	"net"
	"time"
)

// LookUpVerb is the hidden command by which the binary asks its container's
// name server: LookUpVerb NAME.
const LookUpVerb = "lookup"

// lookUpAnswer is how long a name server may take.
const lookUpAnswer = time.Second

// LookUp writes the IPv4 addresses of a name, each on a line, as the name
// servers of /etc/resolv.conf give them.
func LookUp(ctx context.Context, name string, out io.Writer) error {
	// A name that is not known yet is asked for outside, where nobody answers.
	ctx, cancel := context.WithTimeout(ctx, lookUpAnswer)
	defer cancel()
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
