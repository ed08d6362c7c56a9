package iperf3

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"
)

// session is one client's test at the server.
type session struct {
	server  *Server
	cookie  cookie
	begun   time.Time
	control *control
	p       parameters

	opening  atomic.Bool  // flows of this test may come
	flows    chan visitor // those that came
	open     []*flow
	transfer *transfer
	next     chan heard // what the client says once it may open flows
}

const (
	// opening is how long a client may take to open all its flows.
	openingTime = 10 * time.Second
	// overtime is how long a test may take beyond its own time.
	overtime = 15 * time.Second
)

// takes hands over a connection with the test's cookie, while the test waits
// for its flows.
func (s *session) takes(v visitor) bool {
	if !s.opening.Load() {
		return false
	}
	select {
	case s.flows <- v:
		return true
	default:
		return false
	}
}

// run serves the test, and gives a line about it.
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

// refuse tells the client what it can be told of an error.
func (s *session) refuse(ctx context.Context, err error) error {
	var why *refusal
	switch {
	case ctx.Err() != nil:
		return ignoreClosed(s.control.say(serverTerminate))
	case errors.As(err, &why):
		return ignoreClosed(s.control.sendError(why.code))
	}
	return nil
}

// end frees all that the test used. A client that is well ends first.
func (s *session) end() {
	s.opening.Store(false)
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

// agree hears what the client wants and waits for its flows.
func (s *session) agree(ctx context.Context) error {
	if err := s.control.say(paramExchange); err != nil {
		return err
	}
	text, err := s.control.readJSON()
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

// invite tells the client to open its flows, and hears what it says next: the
// end of the test, or of itself. The context ends with that.
func (s *session) invite(ctx context.Context) (context.Context, error) {
	if err := s.control.say(createStreams); err != nil {
		return nil, err
	}
	present, leave := context.WithCancel(ctx)
	s.next = make(chan heard, 1)
	go func() {
		defer leave()
		said, err := s.control.hear(0)
		s.next <- heard{said, err}
	}()
	return present, nil
}

// absent says why the client's flows are not waited for any more.
func (s *session) absent(came int) error {
	wait := fmt.Sprintf("wait for flows, of which %d of %d came", came, s.p.flows())
	select {
	case said := <-s.next:
		if err := s.ended(said); err != nil {
			return fmt.Errorf("%s: %w", wait, err)
		}
		return fmt.Errorf("%s: the client ended the test before it began", wait)
	default:
		return fmt.Errorf("%s: %w within %v", wait, errSilent, openingTime)
	}
}

// openTCP waits for the connections that show the test's cookie.
func (s *session) openTCP(ctx context.Context) error {
	s.opening.Store(true)
	defer s.opening.Store(false)
	present, err := s.invite(ctx)
	if err != nil {
		return err
	}
	timeout := time.After(openingTime)
	var came []visitor
	for len(came) < s.p.flows() {
		select {
		case v := <-s.flows:
			came = append(came, v)
			continue
		case <-present.Done():
		case <-timeout:
		}
		for _, v := range came {
			v.conn.Close()
		}
		return s.absent(len(came))
	}
	inOrder(came)
	for i, v := range came {
		f, err := adopt(v.conn, s.p)
		if err == nil {
			s.open = append(s.open, f)
			err = s.p.tune(f.socket.Descriptor())
		}
		if err != nil {
			for _, rest := range came[i:] {
				rest.conn.Close()
			}
			return fmt.Errorf("open flow: %w", err)
		}
	}
	return nil
}

// openUDP waits for the sockets that greet the server's.
func (s *session) openUDP(ctx context.Context) error {
	d := &udpDoor{
		local: addressOf(s.control.conn.LocalAddr()), peer: addressOf(s.control.conn.RemoteAddr()).Addr(),
		p: s.p, tell: func(line string) { s.server.say("%s", line) },
	}
	if err := d.open(ctx); err != nil {
		return &refusal{errStreamListen, fmt.Errorf("listen for UDP flows: %w", err)}
	}
	defer d.close()
	present, err := s.invite(ctx)
	if err != nil {
		return err
	}
	deadline := time.Now().Add(openingTime)
	for want := s.p.flows(); len(s.open) < want; {
		f, err := d.accept(present, deadline, len(s.open)+1 < want)
		if present.Err() != nil || errors.Is(err, errSilent) {
			return s.absent(len(s.open))
		}
		if err != nil {
			return fmt.Errorf("open UDP flow: %w", err)
		}
		s.open = append(s.open, f)
	}
	return nil
}

// start begins the test.
func (s *session) start() error {
	// A client ends a test of so many bytes itself. This end may stop at them
	// only where all it sends is sure to arrive and to be counted.
	exact := bool(!s.p.UDP && s.p.Reverse) && s.p.Omit == 0
	s.transfer = newTransfer(s.p, s.open, exact)
	if err := s.control.say(testStart); err != nil {
		return err
	}
	if err := s.control.say(testRunning); err != nil {
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
		case said := <-s.next:
			return errors.Join(failure, s.ended(said))
		case failure = <-failed:
			failed = nil // the client says why, or is gone soon
		case <-ctx.Done():
			return ctx.Err()
		case <-step.C:
			if failure != nil {
				return failure
			}
			if err := watch.check(t); err != nil {
				return err
			}
			if limit := t.omit + time.Duration(s.p.Time)*time.Second + overtime; s.p.Time > 0 && t.now() > limit {
				return fmt.Errorf("the client did not end the test of %d s", s.p.Time)
			}
		}
	}
}

// ended takes what the client said in the middle of the test.
func (s *session) ended(said heard) error {
	var moved int64
	if s.transfer != nil {
		moved = s.transfer.moved()
	}
	switch {
	case said.err != nil:
		return fmt.Errorf("the client went away after %d bytes: %w", moved, said.err)
	case said.state == clientTerminate:
		return fmt.Errorf("the client was ended after %d bytes", moved)
	case said.state != testEnd:
		return fmt.Errorf("the client said %#x where iperf3 says %d", byte(said.state), testEnd)
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
	if err := s.control.say(exchangeResults); err != nil {
		return "", err
	}
	text, err := s.control.readJSON()
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
		if congestion, err = s.open[0].socket.Congestion(); err != nil {
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
	s.server.free(s) // the client may come again as soon as it hears this
	if err := s.control.say(displayResults); err != nil {
		return "", err
	}
	if said, err := s.control.hear(patience); err != nil {
		return line + fmt.Sprintf("; the client did not say that it is done: %v", err), nil
	} else if said != iperfDone {
		return line + fmt.Sprintf("; the client said %d in the end", said), nil
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

// describe is what people read of a test.
func (s *session) describe(ours, theirs results) string {
	t := s.transfer
	protocol, direction := "TCP", "from the client"
	if s.p.UDP {
		protocol = "UDP"
	}
	if s.p.Reverse {
		direction = "to the client"
	} else if s.p.Bidirectional {
		direction = "both ways"
	}
	var got, sent, retransmits int64
	var lost, expected, duplicates, reordered, skipped int64
	for i, f := range s.open {
		a := ours.Streams[i]
		skipped += f.skipped
		if f.sends {
			sent += int64(a.Bytes)
			retransmits += max(int64(a.Retransmits), 0)
			continue
		}
		got += int64(a.Bytes)
		retransmits += max(int64(theirs.Streams[i].Retransmits), 0)
		if s.p.UDP {
			lost, expected = lost+int64(a.Errors), expected+int64(a.Packets-*a.OmittedPackets)
			duplicates, reordered = duplicates+f.arrivals.Duplicates(), reordered+f.arrivals.Reordered()
		}
	}
	opens, closes := t.watched.window()
	span := closes.at - opens.at
	parts := []string{fmt.Sprintf("%s, flows %d %s, %.2f s", protocol, len(s.open), direction, span.Seconds())}
	if !s.p.Reverse {
		parts = append(parts, fmt.Sprintf("received %.1f Mbit/s", perSecond(got, span)/1e6))
	}
	if s.p.Reverse || s.p.Bidirectional {
		parts = append(parts, fmt.Sprintf("sent %.1f Mbit/s", perSecond(sent, span)/1e6))
	}
	if skipped > 0 {
		parts = append(parts, fmt.Sprintf("%d blocks given up, this end being too late for them or the path too slow", skipped))
	}
	if !s.p.UDP {
		parts = append(parts, fmt.Sprintf("%d retransmits", retransmits))
	} else if !s.p.Reverse {
		parts = append(parts, fmt.Sprintf("lost %d of %d, %d duplicates, %d reordered", lost, expected, duplicates, reordered))
	}
	return strings.Join(parts, ", ")
}
