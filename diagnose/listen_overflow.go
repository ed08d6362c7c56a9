package diagnose

import (
	"fmt"
	"math"

	"tare/result"
)

// listenOverflow finds a server that accepts more slowly than clients connect.
func listenOverflow() Rule {
	return Rule{
		ID: "listen-overflow", Grave: true,
		Match: atEach(func(e *Evidence, at string) []result.Finding {
			overflows := e.counted(at, netstat, "TcpExt.ListenOverflows")
			full := e.fullListeners(at)
			if overflows == 0 && len(full) == 0 {
				return nil
			}
			most := e.number(at, sysctls, "core/somaxconn")
			f := result.Finding{
				Cause: fmt.Sprintf("a server in %s does not accept connections as fast as they arrive: its accept queue is full", at),
				Evidence: []result.Evidence{
					seen("TcpExt.ListenOverflows", overflows, at, netstat), seen("core/somaxconn", most, at, sysctls),
				},
				Remedy:     remedy(at, fmt.Sprintf("sysctl -w net.core.somaxconn=%.0f", max(4096, 2*most))),
				Fix:        "and listen with the same backlog in the server",
				Confidence: 0.95,
			}
			for _, name := range full {
				f.Cause += fmt.Sprintf("; %s has %.0f of %.0f", name, e.number(at, listening, name+".queue"), e.number(at, listening, name+".backlog"))
				f.Evidence = append(f.Evidence, seen(name+".queue", e.number(at, listening, name+".queue"), at, listening))
			}
			if least := e.leastBacklog(at, full); len(full) > 0 && least < most { // the server asked for less than it may have
				f.Remedy = nil
				f.Fix = fmt.Sprintf("let the server accept faster, or listen with a backlog above %.0f: it may have up to %.0f", least, most)
			}
			return []result.Finding{f}
		}),
	}
}

// fullListeners are the sockets of a place whose accept queue holds more than their
// backlog: a full queue does.
func (e *Evidence) fullListeners(at string) []string {
	var full []string
	for _, name := range e.names(at, listening, ".queue") {
		if e.number(at, listening, name+".queue") > e.number(at, listening, name+".backlog") {
			full = append(full, name)
		}
	}
	return full
}

// leastBacklog is the smallest of some sockets.
func (e *Evidence) leastBacklog(at string, names []string) float64 {
	least := math.Inf(1)
	for _, name := range names {
		least = min(least, e.number(at, listening, name+".backlog"))
	}
	return least
}
