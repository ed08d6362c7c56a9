package iperf3

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"tare/traffic"
)

// session is one client's test at the server.
type session struct {
	server  *Server
	cookie  cookie
	control *control
	p       parameters

	mu      sync.Mutex
	opening bool         // flows of this test may come
	flows   chan visitor // those that came

	open     []*flow
	transfer *transfer
	next     chan received // what the client sends once it may open flows
}

// overtime is how long a test may take beyond its own time.
const overtime = 15 * time.Second

// longestTest is how long one may take that has no time.
const longestTest = 24 * time.Hour

// run serves the test, and returns a line about it.
func (s *session) run(ctx context.Context) (string, error) {
	err := s.agree(ctx)
	if err == nil {
		err = s.start()
	}
	if err == nil {
		err = s.measure(ctx)
	}
	if err != nil {
		return "", errors.Join(err, s.refuse(ctx, err))
	}
	return s.exchange()
}

// refuse sends the client what iperf3 can express of an error.
func (s *session) refuse(ctx context.Context, err error) error {
	var why *refusal
	switch {
	case ctx.Err() != nil:
		return ignoreClosed(s.control.sendState(serverTerminate))
	case errors.As(err, &why):
		return ignoreClosed(s.control.sendError(why.code))
	}
	return nil
}

// end frees all that the test used. A client that is well ends first.
func (s *session) end() {
	s.admit(false)
	if s.transfer != nil {
		s.transfer.stop()
	}
	closeFlows(s.open)
	s.control.close()
	for {
		select {
		case v := <-s.flows:
			v.conn.Close()
		default:
			return
		}
	}
}

// agree receives what the client asks for and waits for its flows.
func (s *session) agree(ctx context.Context) error {
	if err := s.control.sendState(paramExchange); err != nil {
		return err
	}
	text, err := s.control.readJSON(patience)
	if err != nil {
		return fmt.Errorf("wait for the parameters: %w", err)
	}
	if s.p, err = parseParameters(text); err != nil {
		return err
	}
	mss, err := segmentSize(s.control.conn)
	if err != nil {
		return err
	}
	s.p.fill(mss)
	open := s.openTCP
	if s.p.UDP {
		open = s.openUDP
	}
	if err := open(ctx); err != nil {
		return err
	}
	numberFlows(s.open, s.p, false)
	return nil
}

// start begins the test.
func (s *session) start() error {
	// A client ends a test of so many bytes itself. This end may stop at them
	// only where all it sends is sure to arrive and to be counted.
	exact := bool(!s.p.UDP && s.p.Reverse) && s.p.Omit == 0
	s.transfer = newTransfer(s.p, s.open, exact)
	if err := s.control.sendState(testStart); err != nil {
		return err
	}
	if err := s.control.sendState(testRunning); err != nil {
		return err
	}
	return s.transfer.start()
}

// measure lets the test run until the client ends it.
func (s *session) measure(ctx context.Context) error {
	t := s.transfer
	opens := make(<-chan time.Time)
	if t.omit > 0 {
		opens = time.After(t.omit)
	}
	watch := newStall(s.p, t)
	step := time.NewTicker(stallStep)
	defer step.Stop()
	failed := t.failure
	var failure error
	for {
		select {
		case <-opens:
			if err := t.read(true); err != nil {
				return err
			}
		case got := <-s.next:
			return errors.Join(failure, s.ended(got))
		case failure = <-failed:
			failed = nil // the client sends why, or is gone soon
		case <-ctx.Done():
			return ctx.Err()
		case <-step.C:
			if failure != nil {
				return failure
			}
			if err := watch.check(t); err != nil {
				return err
			}
			limit := t.omit + time.Duration(s.p.Time)*time.Second + overtime
			if s.p.Time == 0 { // so much is to be sent, or the client ends it
				limit = longestTest
			}
			if t.now() > limit {
				return fmt.Errorf("the client did not end the test within %v", limit)
			}
		}
	}
}

// ended handles what the client sent in the middle of the test.
func (s *session) ended(got received) error {
	var moved int64
	if s.transfer != nil {
		moved = s.transfer.moved()
	}
	switch {
	case got.err != nil:
		return fmt.Errorf("the client went away after %d bytes: %w", moved, got.err)
	case got.state == clientTerminate:
		return fmt.Errorf("the client was ended after %d bytes", moved)
	case got.state != testEnd:
		return fmt.Errorf("the client sent %#x where iperf3 sends %d", byte(got.state), testEnd)
	}
	return nil
}

// exchange swaps the results with the client.
func (s *session) exchange() (string, error) {
	t := s.transfer
	if err := t.rest(); err != nil {
		return "", err
	}
	used, err := processUsage()
	if err != nil {
		return "", err
	}
	if err := t.closeSenders(); err != nil {
		return "", err
	}
	if err := s.control.sendState(exchangeResults); err != nil {
		return "", err
	}
	text, err := s.control.readJSON(exchangePatience)
	if err != nil {
		return "", fmt.Errorf("wait for the client's results: %w", err)
	}
	theirs, err := parseResults(text, flowIDs(len(s.open)))
	if err != nil {
		return "", err
	}
	if err := s.drain(theirs.Streams); err != nil {
		return "", err
	}
	t.stop()
	congestion := ""
	if !s.p.UDP {
		if congestion, err = traffic.Congestion(s.open[0].socket); err != nil {
			return "", err
		}
	}
	ours := t.results(used.since(t.cpu), congestion, theirs.Streams)
	line := s.describe(ours, theirs)
	if s.p.GetServerOutput {
		ours.ServerOutput = line + "\n"
	}
	if err := s.control.sendJSON(ours); err != nil {
		return "", err
	}
	s.server.free(s) // the client may come again as soon as it receives this
	if err := s.control.sendState(displayResults); err != nil {
		return "", err
	}
	if got, err := s.control.receiveState(patience); err != nil {
		return line + fmt.Sprintf("; the client did not send that it is done: %v", err), nil
	} else if got != iperfDone {
		return line + fmt.Sprintf("; the client sent %d in the end", got), nil
	}
	return line, nil
}

// drain takes what the client sent and is still on its way: all of a test of
// so many bytes, and every datagram, so that none counts as lost that is not.
func (s *session) drain(theirs []flowResults) error {
	t := s.transfer
	quiet := quietTime(0)
	if s.p.UDP {
		t.drainDatagrams(theirs, quiet)
		return nil
	}
	if s.p.Num == 0 && s.p.BlockCount == 0 || s.p.Omit > 0 {
		return nil
	}
	sent := map[*flow]int64{}
	for i, f := range s.open {
		sent[f] = int64(theirs[i].Bytes)
	}
	t.drain(func(f *flow) bool { return f.count.bytes.Load() >= sent[f] }, quiet)
	return t.read(false)
}
