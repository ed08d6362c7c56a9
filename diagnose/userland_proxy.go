package diagnose

import (
	"fmt"

	"tare/result"
)

// userlandProxy knows a published port behind a process that copies each byte.
func userlandProxy() Rule {
	return Rule{
		ID: "userland-proxy", Doc: doc("userland-proxy"),
		Cause: "a process relays the published port: each byte is copied to it and back",
		Fix:   `"userland-proxy": false in Docker's daemon.json`,
		Match: func(e *Evidence) []result.Finding {
			m, slow := slower(e.Cell)
			if !slow || !published(e.Path) || !relays(e.Network) {
				return nil
			}
			return []result.Finding{{
				Cause:      fmt.Sprintf("a process in %s relays the published port: two connections for one, and each byte copied twice more", hostOf(e.Server)),
				Evidence:   e.tolled(m),
				Fix:        `echo '{"userland-proxy": false}' > /etc/docker/daemon.json && systemctl restart docker`,
				Confidence: 0.9, Share: e.added(m),
			}}
		},
	}
}
