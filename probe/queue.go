package probe

import (
	"bytes"
	"errors"
	"io/fs"
)

// queues names the queues of netfilter that a process reads: what a rule hands to another one is
// dropped.
func queues() Probe {
	return Probe{
		Name: "queues", Doc: "queues of netfilter that a process reads", Scope: Namespace, Source: "/proc/net/netfilter/nfnetlink_queue",
		look: func(v *view) (map[string]any, error) {
			data, err := v.read("proc/thread-self/net/netfilter/nfnetlink_queue")
			if errors.Is(err, fs.ErrNotExist) {
				return nil, nil // nobody can read one
			}
			return parseQueues(data), err
		},
	}
}

// parseQueues reads a line for each queue, of which the first number is its own and the second
// the port of the process that reads it.
func parseQueues(data []byte) map[string]any {
	values := map[string]any{}
	for line := range bytes.Lines(data) {
		if fields := bytes.Fields(line); len(fields) > 1 {
			values[string(fields[0])] = string(fields[1])
		}
	}
	return values
}
