package diagnose

import (
	"fmt"

	"tare/result"
)

// diskWaits is the least share of the time with a task waiting for a disk from which
// the disk limits how fast containers are created.
const diskWaits = 0.2

// lifecycleDiskLimited finds an engine that waits for the disk when it creates
// containers.
func lifecycleDiskLimited() Rule {
	return Rule{
		ID: "lifecycle-disk-limited",
		Match: func(e *Evidence) []result.Finding {
			waited := e.counted("", pressure, "io.some")
			lasted := e.counted("", cpuTimes, "cpu0.busy") + e.counted("", cpuTimes, "cpu0.idle")
			if lasted == 0 || waited < diskWaits*lasted {
				return nil
			}
			return []result.Finding{{
				Cause: fmt.Sprintf("while containers were created, at least one task waited for a disk %.0f %% of the time", 100*waited/lasted),
				Evidence: []result.Evidence{
					{Name: "io.some (s)", Value: waited, Source: pressure}, {Name: "measured (s)", Value: lasted, Source: cpuTimes},
				},
				Fix:        "docker info -f '{{.DockerRootDir}}'  # put this directory on a faster disk: data-root in /etc/docker/daemon.json",
				Confidence: 0.8,
			}}
		},
	}
}
