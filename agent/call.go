package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"time"
	"unicode"

	"tare/probe"
	"tare/protocol"
	"tare/workload"
)

// Caller asks serving ports for runs.
type Caller struct {
	Secret  string // the port's token; empty: it has none
	Version string // of tare
}

// Call does one run against a serving port: this process drives it.
func (c Caller) Call(ctx context.Context, to netip.AddrPort, name string, run workload.Run) (out Outcome, err error) {
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
	l := protocol.NewLines(conn, conn, protocol.MaxMessage)
	l.Clean = printable
	if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return out, err
	}
	asked := time.Now()
	if err := apply(l, to, c.Secret, job); err != nil {
		return out, err
	}
	first, err := readReply(l, to)
	if err != nil {
		return out, err
	}
	near := endpoint{Version: c.Version, Boot: run.Boot, Clock: time.Now(), Own: addressOf(conn.LocalAddr()), Other: to}
	if first.End == nil {
		return out, fmt.Errorf("the server at %v ended the run before it began", to)
	}
	if err := conn.SetReadDeadline(time.Time{}); err != nil {
		return out, err
	}
	far := *first.End
	job.apart = far.Boot != run.Boot
	job.Address = to.String()
	if first.Port != 0 {
		job.Address = netip.AddrPortFrom(to.Addr(), uint16(first.Port)).String()
	}
	served := func(ctx context.Context) (workload.Tally, error) {
		stop := context.AfterFunc(ctx, func() { conn.Close() })
		defer stop()
		last, err := readReply(l, to)
		if err != nil {
			return workload.Tally{}, err
		}
		if last.Tally == nil {
			return workload.Tally{}, fmt.Errorf("the server at %v ended the run without a tally", to)
		}
		return *last.Tally, nil
	}
	out, err = join(ctx, served, job.send)
	out.Apart = job.apart
	near.MTU = mtuOf(near.Own.Addr())
	out.Warnings = append(between(near, far, asked), out.smallPackets(near, far, run.Reverse)...)
	return out, err
}

// apply greets a server and asks it for a run.
func apply(l *protocol.Stream, to netip.AddrPort, secret string, job Job) error {
	text, err := json.Marshal(job)
	if err != nil {
		return fmt.Errorf("encode request: %w", err)
	}
	own, err := newNonce()
	if err != nil {
		return err
	}
	if err := l.Write(portGreeting{protocol.Greeting{Schema: PortSchema}, own}); err != nil {
		return fmt.Errorf("ask %v for a run: %w", to, err)
	}
	greeted, err := readReply(l, to)
	if err != nil {
		return err
	}
	r := portRequest{Job: text}
	if secret != "" {
		r.Proof = proofOf(secret, own, greeted.Nonce, text)
	}
	if err := l.Write(r); err != nil {
		return fmt.Errorf("ask %v for a run: %w", to, err)
	}
	return nil
}

// Ask does the driving end of a run against a server that is not ours.
func Ask(ctx context.Context, to netip.AddrPort, name string, run workload.Run) (Outcome, error) {
	prepare()
	job := Job{Workload: name, Run: run, Address: to.String()}
	room(job.threads())
	tally, err := job.send(ctx)
	return Outcome{Client: tally}, err
}

// starting is how long a caller waits for a server that is about to listen.
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

// readReply receives a line of the server, which may be anybody.
func readReply(l *protocol.Stream, to netip.AddrPort) (r portReply, err error) {
	err = l.Read(&r)
	switch malformed := new(protocol.MalformedError); {
	case errors.Is(err, io.EOF):
		err = fmt.Errorf("the server at %v closed the connection: see whether it is tare serve, of this version, and what it printed", to)
	case errors.As(err, &malformed):
		err = fmt.Errorf("the server at %v is no tare serve: it sent %.60q", to, malformed.Line)
	case err != nil:
		err = fmt.Errorf("read from the server at %v: %w: see whether it is tare serve, and what it printed", to, err)
	case r.Error != "":
		err = fmt.Errorf("the server at %v: %s", to, r.Error)
	}
	return r, err
}

// mostText is how much of a text of a server's is shown, in bytes.
const mostText = 500

// printable is a text of a server's without what a terminal would act upon.
func printable(text string) string {
	if len(text) > mostText {
		text = strings.ToValidUTF8(text[:mostText], "") + "..."
	}
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
}
