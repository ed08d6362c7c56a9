package probe

import (
	"strings"
)

// Confinement is what holds a process: a filter of its system calls, and CPUs.
type Confinement struct {
	Seccomp string `json:"seccomp,omitempty"` // "none", "strict" or "filter" (seccomp(2)); empty: the kernel does not report it
	CPUs    string `json:"cpus,omitempty"`    // that it may run on, as a CPU list
}

// Confined reads the confinement of the calling process (proc_pid_status(5)).
func Confined(root string) Confinement {
	var c Confinement
	for _, line := range strings.Split(string(contents(root, "proc/self/status")), "\n") {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch name {
		case "Seccomp":
			c.Seccomp = map[string]string{"0": "none", "1": "strict", "2": "filter"}[value]
		case "Cpus_allowed_list":
			c.CPUs = value
		}
	}
	return c
}
