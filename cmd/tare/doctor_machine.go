package main

import (
	"context"
	"fmt"
	"net"
	"time"

	"tare/diagnose"
	"tare/probe"
	"tare/result"
)

// watchTime is how long this machine's counters are watched: only what they count
// in this time is evidence, since they also hold what happened long ago.
const watchTime = time.Second

// dockerSocket is where Docker's engine listens in a default installation.
const dockerSocket = "/var/run/docker.sock"

// diagnoseMachine examines this machine in its present state and, if docker is
// set, the firewall rules of its Docker.
func diagnoseMachine(ctx context.Context, docker bool) (result.Diagnosis, error) {
	e := &diagnose.Evidence{Examination: result.Examination{Places: []string{""}}}
	if docker {
		conn, err := net.Dial("unix", dockerSocket)
		if err != nil {
			return result.Diagnosis{}, &exitError{exitMissing, fmt.Errorf("reach Docker: %w: start it, or run tare as a user of the group docker", err)}
		}
		defer conn.Close()
		e.Network = "docker-bridge"
	}
	before := []probe.Counts{probe.Read("/", probe.Machine), probe.Read("/", probe.Namespace)}
	select {
	case <-time.After(watchTime):
	case <-ctx.Done():
		return result.Diagnosis{}, ctx.Err()
	}
	for n, scope := range []probe.Scope{probe.Machine, probe.Namespace} {
		readings, unread := probe.Read("/", scope).Since(before[n])
		states, unseen := probe.Look("/", scope)
		e.Readings, e.States = append(e.Readings, readings...), append(e.States, states...)
		e.Unread = probe.Unread(e.Unread, unread, unseen)
	}
	d := result.Diagnosis{Findings: diagnose.Find(e), Unread: e.Unread}
	d.Looked.Add(e.Examination)
	return d, nil
}
