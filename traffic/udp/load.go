package udp

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"tare/traffic"
)

// Load is a sweep of loads: many short trials, each with its own rate of
// datagrams. The sender owns the window, which holds them all.
type Load struct {
	Token  traffic.Token
	Window traffic.Window // without a series
	Mode   Mode           // Mmsg, the default, or XDP
	Size   int            // payload bytes of a datagram, HeaderBytes to MaxDatagram; default 64

	// Spin waits for the last 80 us before a slot with a busy loop. Set it only
	// where the sender has a CPU to itself.
	Spin bool
}

const (
	// shares of the knee that are offered once it is known.
	twice = 2.0
	// leastTrials are those of the bisection, and one of each share of the knee.
	leastTrials = mostBisected + 6
	// mostTrials bounds the memory for the steps at both ends.
	mostTrials = 1000
	// overtime is how much longer than planned the trials may take before the
	// sweep ends without the rest of them.
	overtime = time.Second
	// longestTrial is what more trials are made for, so that a path that passes
	// nothing any more is noticed in time.
	longestTrial = 2 * time.Second
)

// knees are the shares of the knee at which the curve is measured, and where it
// ends.
func knees() [6]float64 { return [...]float64{0.25, 0.5, 0.75, 1.25, 1.5, twice} }

// Trial is one step of a sweep.
type Trial struct {
	Asked    float64       // 1/s; 0: as fast as possible
	Offered  float64       // 1/s, what the sender tried to send, its own machine's drops included
	Received float64       // 1/s, what came, over the time that the sender sent or the receiver needed, the longer
	Loss     float64       // ratio, the sender's own drops included
	Elapsed  time.Duration // that the sender sent
	Carried  bool          // nothing was lost, and the receiver was not behind at the end

	tried, sent, got int64
}

// LoadSent is the sender's outcome of a sweep.
type LoadSent struct {
	Trials    []Trial // in the order they were made
	Length    time.Duration
	Elapsed   time.Duration // of the window
	Datagrams int64         // received in all trials

	// NoDropLow and NoDropHigh are the relevant bounds of the load at which loss
	// begins (RFC 9971), in 1/s: NoDropLow is 0 if there was loss at any load;
	// NoDropHigh is infinite if there was none up to the most that the sender can
	// offer.
	NoDropLow, NoDropHigh float64
}

// Knee is where loss begins, half-way between the bounds; false if there is no
// upper one.
func (s LoadSent) Knee() (float64, bool) {
	return (s.NoDropLow + s.NoDropHigh) / 2, !math.IsInf(s.NoDropHigh, 1)
}

// Most is the most that was received in a trial, in 1/s.
func (s LoadSent) Most() float64 {
	var most float64
	for _, t := range s.Trials {
		most = max(most, t.Received)
	}
	return most
}

// AtTwiceKnee is the mean of what was received where about twice the knee was
// offered, in 1/s; false if there is no knee, or the sender could not offer so
// much.
func (s LoadSent) AtTwiceKnee() (float64, bool) {
	const near = 0.1
	knee, ok := s.Knee()
	if !ok {
		return 0, false
	}
	var sum, count float64
	for _, t := range s.Trials {
		if math.Abs(t.Offered/knee-twice) < near*twice {
			sum += t.Received
			count++
		}
	}
	return sum / max(count, 1), count > 0
}

// LoadReceived is the receiver's outcome: what its machine did in each
// trial, in their order.
type LoadReceived struct {
	CPU             []float64   // CPUs that were busy, of all
	Softirq         [][]float64 // of each CPU, the share of the trial that it spent in softirq
	Datagrams       int64
	Duplicates      int64
	ReceiveBuffer   int // bytes, as the kernel counts them
	Unauthenticated int64
}

func (s Load) checked() (Load, error) {
	s.Size = cmp.Or(s.Size, defaultSmall)
	s.Mode = cmp.Or(s.Mode, Mmsg)
	if s.Mode != Mmsg && s.Mode != XDP {
		return s, fmt.Errorf("mode %q: want %q or %q", s.Mode, Mmsg, XDP)
	}
	if s.Size < traffic.HeaderBytes || s.Size > traffic.MaxDatagram {
		return s, fmt.Errorf("datagrams of %d bytes: want %d to %d", s.Size, traffic.HeaderBytes, traffic.MaxDatagram)
	}
	if s.Window.Duration < 20*time.Millisecond {
		return s, fmt.Errorf("a window of %v: a sweep needs 20 ms at least, and better some seconds", s.Window.Duration)
	}
	return s, s.Window.Check(1)
}

// trials is how many the window is divided among.
func (s Load) trials() int {
	return min(max(leastTrials, int(s.Window.Duration/longestTrial)), mostTrials)
}

// sweep chooses the load of each trial: first those of the bisection, then the
// shares of the knee in turn.
type sweep struct {
	search bisection
	curve  int // trials of the shares
}

func newSweep() *sweep {
	return &sweep{search: bisection{decided: make([]decision, 0, mostLoads)}}
}

// next gives the rate to ask for; 0 is as fast as possible.
func (s *sweep) next() float64 {
	if load, ok := s.search.next(); ok {
		return load
	}
	knee, high := s.search.bounds()
	if !math.IsInf(high, 1) {
		knee = (knee + high) / 2
	}
	shares := knees()
	load := shares[s.curve%len(shares)] * knee
	s.curve++
	if load >= s.search.decided[0].load {
		return 0
	}
	return load
}

// take takes the result of the load that next gave.
func (s *sweep) take(t Trial) {
	switch {
	case s.search.active:
		s.search.take(t.Offered, t.Received, t.Carried)
	case t.Asked == 0 && t.Carried && !s.search.decided[0].upper:
		s.search.decided[0].add(t.Offered, t.Received) // once more all that can be offered
	}
}
