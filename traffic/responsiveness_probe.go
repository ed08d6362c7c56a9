package traffic

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// probes are those of one run: foreign ones and ones on the load in turn, at even times whether
// or not those before are answered.
type probes struct {
	client *webClient
	load   *webLoad
	until  context.Context // what is under way then is ended
	end    context.CancelFunc
	fail   context.CancelCauseFunc
	all    sync.WaitGroup

	mu         sync.Mutex
	times      [probeParts][]time.Duration // of the window
	unanswered int
}

// The parts of probes that are timed.
const (
	partTCP = iota
	partTLS
	partHTTP
	partLoaded
	probeParts
)

func newProbes(client *webClient, load *webLoad) *probes {
	return &probes{client: client, load: load}
}

// launch probes from the load's first data on, so that all is warm when the window opens, until
// it has closed, and waits for the responses.
func (p *probes) launch(ctx context.Context) error {
	ctx, p.fail = context.WithCancelCause(ctx)
	defer p.fail(nil)
	p.until, p.end = context.WithCancel(ctx)
	defer p.all.Wait()
	defer p.end()
	if err := p.awaitLoad(ctx); err != nil {
		return err
	}
	begun, before := p.client.run.now(), p.load.carried()
	opens := time.Duration(p.load.table.opens.Load())
	closes := opens + p.load.table.Duration
	foreign, counts, credit := true, false, 0.
	for due := begun + probeGap/2; ; due = max(due+probeGap/2, p.client.run.now()) {
		if !counts && due >= opens {
			due, foreign, counts, credit = max(opens, begun), true, true, 1
		}
		if due >= closes {
			break
		}
		if err := p.wait(ctx, due); err != nil {
			return err
		}
		if credit >= 1 {
			if err := p.one(foreign, counts); err != nil {
				return err
			}
			foreign, credit = !foreign, credit-1
		}
		credit += allowed(8 * float64(p.load.carried()-before) / (p.client.run.now() - begun).Seconds())
	}
	return p.drain(ctx, closes+drainLimit)
}

// awaitLoad waits until the load comes on every flow.
func (p *probes) awaitLoad(ctx context.Context) error {
	for limit := p.client.run.now() + grace; p.load.table.opens.Load() == unset; {
		now := p.client.run.now()
		if now > limit {
			return fmt.Errorf("wait for the load: %w; see what the server reported", errSilent)
		}
		if err := p.wait(ctx, now+time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// wait waits for a time on the run's clock.
func (p *probes) wait(ctx context.Context, until time.Duration) error {
	timer := time.NewTimer(until - p.client.run.now())
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// allowed is the share of the most probes that a load of so many bits per second allows.
func allowed(load float64) float64 {
	return min(1, load*probeShare*probeGap.Seconds()/probeBits)
}

// drain waits for what is under way, until a limit.
func (p *probes) drain(ctx context.Context, limit time.Duration) error {
	answered := make(chan struct{})
	go func() {
		p.all.Wait()
		close(answered)
	}()
	timer := time.NewTimer(limit - p.client.run.now())
	defer timer.Stop()
	select {
	case <-answered:
	case <-timer.C:
		p.end()
		<-answered
	case <-ctx.Done():
	}
	return context.Cause(ctx)
}

// one launches a probe. The connection of a foreign one begins on this thread, which is in the
// namespace of the run.
func (p *probes) one(foreign, counts bool) error {
	if !foreign {
		flow := p.load.flows[rand.IntN(len(p.load.flows))]
		p.all.Go(func() {
			took, err := p.client.small(p.until, flow.conn)
			p.note(counts, partLoaded, took, err)
		})
		return nil
	}
	begun := p.client.run.now()
	socket, err := beginConnection(p.client)
	if err != nil {
		return err
	}
	p.all.Go(func() {
		defer reset(socket)
		p.foreign(socket, begun, counts)
	})
	return nil
}

// foreign does the rest of a foreign probe.
func (p *probes) foreign(socket net.Conn, begun time.Duration, counts bool) {
	now := p.client.run.now
	err := awaitConnection(p.until, socket)
	connected := now()
	if !p.note(counts, partTCP, connected-begun, err) {
		return
	}
	secure, err := p.client.shake(p.until, socket)
	shaken := now()
	if !p.note(counts, partTLS, shaken-connected, err) {
		return
	}
	conn, err := p.client.transport.NewClientConn(secure)
	var took time.Duration
	if err == nil {
		took, err = p.client.small(p.until, conn)
	}
	p.note(counts, partHTTP, took, err)
}

// note keeps what a part of a probe took, and reports whether the next may begin. A probe that
// fails ends the run, as the draft has it.
func (p *probes) note(counts bool, part int, took time.Duration, err error) (next bool) {
	ended := err != nil && p.until.Err() != nil
	if err != nil && !ended {
		p.fail(fmt.Errorf("probe: %w; see what the server reported", err))
		return false
	}
	if counts {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.times[part] = append(p.times[part], took)
		if ended {
			p.unanswered++
		}
	}
	return !ended
}

// sum adds what the probes come to.
func (p *probes) sum(calls *ResponsivenessCalls) error {
	for part, into := range map[int]*time.Duration{
		partTCP: &calls.TCP, partTLS: &calls.TLS, partHTTP: &calls.HTTP, partLoaded: &calls.Loaded,
	} {
		if len(p.times[part]) == 0 {
			return errors.New("no probe of each kind was answered in the window: make it longer")
		}
		*into = trimmedMean(p.times[part])
	}
	calls.Foreign, calls.OnLoad, calls.Unanswered = len(p.times[partTCP]), len(p.times[partLoaded]), p.unanswered
	return nil
}

// beginConnection begins to connect, and waits for nothing.
func beginConnection(w *webClient) (net.Conn, error) {
	family, sa, err := socketAddress(w.to)
	if err != nil {
		return nil, err
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("open socket: %w", err)
	}
	defer closeSocket(fd)
	if err := unix.Connect(fd, sa); err != nil && !pendingConnect(err) {
		return nil, fmt.Errorf("connect to %v: %w", w.to, err)
	}
	return polledConn(fd)
}

// awaitConnection waits until a connection that was begun is there.
func awaitConnection(ctx context.Context, socket net.Conn) error {
	tcp, ok := socket.(*net.TCPConn)
	if !ok {
		return errors.New("connect: not a socket of TCP")
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = tcp.SetDeadline(time.Unix(1, 0)) }) // it fails only once closed
	defer stop()
	var refused error
	err = raw.Write(func(fd uintptr) (done bool) {
		code, err := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_ERROR)
		if err != nil || code != 0 {
			refused = errors.Join(err, syscall.Errno(code))
			return true
		}
		_, err = unix.Getpeername(int(fd))
		return err == nil
	})
	if err := errors.Join(err, refused); err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	return nil
}
