package result

import (
	"strings"

	"golang.org/x/sys/unix"
)

// Failure is what the error of a trial shows.
type Failure string

// The failures.
const (
	Refused      Failure = "refused"                    // a reset or an ICMP message came back at once
	Reset        Failure = "closed"                     // a connection that was open was closed from outside
	NoSourcePort Failure = "no free source port"        // at the client: nothing was sent
	PortInUse    Failure = "port in use"                // by another server: nothing was sent
	NoAddress    Failure = "no such address"            // the server lacks it: nothing was sent
	Unreachable  Failure = "unreachable"                // no route, or no neighbour, here or at a router
	Denied       Failure = "denied"                     // by a firewall or a route, here or at a router
	TooLarge     Failure = "too large"                  // for the device or the path, as the kernel knows it
	Uncontrolled Failure = "another congestion control" // than the plan's: it passed
	Silent       Failure = "no answer"
	Unknown      Failure = "failed"
)

// Failure is what its error shows; empty: it passed. An error of another process is a text only.
func (t Trial) Failure() Failure {
	if t.Error == "" {
		return ""
	}
	for _, f := range failures() {
		if strings.Contains(t.Error, f.where) && strings.Contains(t.Error, f.text) {
			return f.is
		}
	}
	return Unknown
}

// failure is one by which texts an error holds.
type failure struct {
	where, text string
	is          Failure
}

// failures are by the texts of the kernel's errors and of package traffic. The first that fits
// counts.
func failures() []failure {
	return []failure{
		{"bind ", unix.EADDRINUSE.Error(), PortInUse},
		{"bind ", unix.EADDRNOTAVAIL.Error(), NoAddress},
		{"", unix.EADDRNOTAVAIL.Error(), NoSourcePort},
		{"", "every local port towards the server is in use", NoSourcePort},
		{"", unix.EADDRINUSE.Error(), NoSourcePort},
		{"", unix.ECONNREFUSED.Error(), Refused},
		{"", unix.ECONNRESET.Error(), Reset},
		{"", unix.EPIPE.Error(), Reset},
		{"", "the peer closed the connection", Reset},
		{"", unix.EHOSTUNREACH.Error(), Unreachable},
		{"", unix.ENETUNREACH.Error(), Unreachable},
		{"", unix.ENETDOWN.Error(), Unreachable},
		{"", unix.EINVAL.Error(), Unreachable}, // as of a route of type blackhole
		{"", unix.EACCES.Error(), Denied},
		{"", unix.EPERM.Error(), Denied},
		{"", unix.EMSGSIZE.Error(), TooLarge},
		{"", "congestion control is ", Uncontrolled},
		{"", "no answer", Silent},
		{"", "and then no more", Silent},
		{"", unix.ETIMEDOUT.Error(), Silent},
	}
}
