package diagnose

import (
	"fmt"

	"tare/result"
)

// diskWaits is the share of the time in which a task waited for a disk, from
// which containers are made at its pace.
const diskWaits = 0.2

// lifecycleDiskLimited knows an engine whose containers wait for the disk.
func lifecycleDiskLimited() Rule {
	return Rule{
		ID: "lifecycle-disk-limited", Doc: doc("lifecycle-disk-limited"),
		Cause: "making containers waits for the disk",
		Fix:   "put the engine's data folder on a faster disk",
		Match: func(e *Evidence) []result.Finding {
			waited := e.counted("", pressure, "io.some")
			lasted := e.counted("", cpuTimes, "cpu0.busy") + e.counted("", cpuTimes, "cpu0.idle")
			if lasted == 0 || waited < diskWaits*lasted {
				return nil
			}
			return []result.Finding{{
				Cause: fmt.Sprintf("while containers were made, some task waited for a disk in %.0f %% of the time", 100*waited/lasted),
				Evidence: []result.Evidence{
					{Name: "io.some (s)", Value: waited, Source: pressure}, {Name: "measured (s)", Value: lasted, Source: cpuTimes},
				},
				Fix:        "docker info -f '{{.DockerRootDir}}'  # put that folder on a faster disk: data-root in /etc/docker/daemon.json",
				Confidence: 0.8,
			}}
		},
	}
}
