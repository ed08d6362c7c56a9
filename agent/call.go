package agent

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"syscall"
	"time"

	"tare/probe"
	"tare/workload"
)

// Call does one run against a serving port: this process drives it.
func Call(ctx context.Context, to netip.AddrPort, secret, name string, run workload.Run) (out Outcome, err error) {
	if kind, known := workload.Find(name); !known || run.Flows > kind.Flows {
		return out, fmt.Errorf("%d flows of %q: no run of this tare", run.Flows, name)
	}
	prepare()
	run.Boot = probe.BootID("/")
	job := Job{Workload: name, Run: run}
	room(job.threads())
	ctx, cancel := context.WithTimeout(ctx, patience+run.Warmup+run.Duration+patience)
	defer cancel()
	conn, err := dial(ctx, to)
	if err != nil {
		return out, fmt.Errorf("reach the server: %w: start tare serve --bind %s there", err, to)
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	lines := bufio.NewReaderSize(conn, maxRequest)

	line, err := json.Marshal(request{Schema: PortSchema, Secret: secret, Job: job})
	if err != nil {
		return out, fmt.Errorf("encode request: %w", err)
	}
	if _, err := conn.Write(append(line, '\n')); err != nil {
		return out, fmt.Errorf("ask %v for a run: %w", to, err)
	}
	if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return out, err
	}
	first, err := hearReply(lines, to)
	if err != nil {
		return out, err
	}
	if !first.Ready {
		return out, fmt.Errorf("the server at %v ended the run before it began", to)
	}
	if err := conn.SetReadDeadline(time.Time{}); err != nil {
		return out, err
	}
	job.Address = to.String()
	if first.Port != 0 {
		job.Address = netip.AddrPortFrom(to.Addr(), uint16(first.Port)).String()
	}
	return drive(ctx, job, lines, to)
}

// Ask does the driving end of a run against a server that is not ours.
func Ask(ctx context.Context, to netip.AddrPort, name string, run workload.Run) (Outcome, error) {
	prepare()
	job := Job{Workload: name, Run: run, Address: to.String()}
	room(job.threads())
	tally, err := job.send(ctx)
	return Outcome{Client: tally}, err
}

// starting is how long a server that is about to listen is waited for.
const starting = time.Second

// dial connects to the server.
func dial(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	dialer := &net.Dialer{Timeout: patience}
	for begun := time.Now(); ; time.Sleep(starting / 20) {
		conn, err := dialer.DialContext(ctx, "tcp", to.String())
		if !errors.Is(err, syscall.ECONNREFUSED) || time.Since(begun) > starting {
			return conn, err
		}
	}
}

// drive runs the driving end and hears what the server measured. When one end
// fails the other can't succeed: the first error is the better one.
func drive(ctx context.Context, job Job, lines *bufio.Reader, to netip.AddrPort) (out Outcome, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type ended struct {
		tally workload.Tally
		err   error
		sent  bool
	}
	both := make(chan ended, 2)
	go func() {
		last, err := hearReply(lines, to)
		if err == nil && last.Tally == nil {
			err = fmt.Errorf("the server at %v ended the run without a tally", to)
		}
		if err != nil {
			both <- ended{err: err}
			return
		}
		both <- ended{tally: *last.Tally}
	}()
	go func() {
		tally, err := job.send(ctx)
		both <- ended{tally, err, true}
	}()
	for n := range 2 {
		e := <-both
		if e.err != nil {
			cancel()
			if n == 0 && !e.sent {
				<-both // the driving end stops by the context
			}
			return out, e.err
		}
		if e.sent {
			out.Client = e.tally
		} else {
			out.Server = e.tally
		}
	}
	return out, nil
}

// hearReply reads a line of the server.
func hearReply(lines *bufio.Reader, to netip.AddrPort) (reply, error) {
	var r reply
	line, err := lines.ReadBytes('\n')
	switch {
	case err != nil && len(line) == 0 && errors.Is(err, io.EOF):
		return r, fmt.Errorf("the server at %v closed the connection: see whether it is tare serve, and what it said", to)
	case err != nil:
		return r, fmt.Errorf("hear the server at %v: %w: see whether it is tare serve, and what it said", to, err)
	}
	if json.Unmarshal(line, &r) != nil {
		return r, fmt.Errorf("what stands at %v is no tare serve: it said %.60q", to, bytes.TrimSpace(line))
	}
	if r.Error != "" {
		return r, fmt.Errorf("the server at %v: %s", to, r.Error)
	}
	return r, nil
}
