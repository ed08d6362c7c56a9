package udp

import "math"

// bisection looks for the load at which loss begins, in the manner of RFC 9971
// (MLRsearch) with one goal: no loss, and an exceed ratio of a half. A load is
// tried until two of at most three trials agree. The relevant upper bound is
// the least load that was found too high, the relevant lower bound the greatest
// below it that was carried.
type bisection struct {
	decided []decision // the first is all that the sender can offer
	trying  decision
	active  bool // a load is under trial
	fine    int  // of its trials, those that the path carried
	lossy   int
	guess   float64 // the result of offering as much as possible; the best load to try next
	carried int     // loads that were
}

// decision is a load and the result of its trials.
type decision struct {
	asked  float64 // 1/s; 0: as fast as possible
	load   float64 // 1/s, the mean of what was offered
	got    float64 // 1/s, the mean of what was received
	trials float64
	upper  bool // too high
}

// add takes one more trial of the load.
func (d *decision) add(offered, received float64) {
	d.trials++
	d.load += (offered - d.load) / d.trials
	d.got += (received - d.got) / d.trials
}

const (
	// agreeing trials decide on a load.
	agreeing = 2
	// goalWidth is how near to each other the bounds need to be.
	goalWidth = 0.005
	// justAbove is how far above the first load that was carried the next is
	// tried, as a share of it. What can be offered may be a hundred times what is
	// carried, and halves of that would come near too slowly.
	justAbove = 0.02
	// mostLoads bounds how many loads are decided on.
	mostLoads = 11
	// mostBisected is how many trials that may take.
	mostBisected = mostLoads * (2*agreeing - 1)
)

// bounds gives the relevant bounds: low is 0, high infinite where there is none.
func (b *bisection) bounds() (low, high float64) {
	high = math.Inf(1)
	for _, d := range b.decided {
		if d.upper {
			high = min(high, d.load)
		}
	}
	for _, d := range b.decided {
		if !d.upper && d.load < high {
			low = max(low, d.load)
		}
	}
	return low, high
}

// next gives the load to try next, 0 for all that the sender can offer; false
// once the bounds are near enough, or no load was too high.
func (b *bisection) next() (float64, bool) {
	if b.active {
		return b.trying.asked, true
	}
	if len(b.decided) == 0 {
		b.active = true
		return 0, true
	}
	low, high := b.bounds()
	if math.IsInf(high, 1) || high-low <= goalWidth*high || len(b.decided) == mostLoads {
		return 0, false
	}
	asked := (low + high) / 2
	if b.carried == 1 {
		asked = min(asked, low*(1+justAbove))
	}
	if b.guess > low && b.guess < high*(1-goalWidth) {
		asked = b.guess
	}
	b.guess = 0
	b.trying, b.active = decision{asked: asked}, true
	return asked, true
}

// take takes a trial of the load that next gave: what was really offered and
// received, and whether that is all of it.
func (b *bisection) take(offered, received float64, carried bool) {
	t := &b.trying
	t.add(offered, received)
	if carried {
		b.fine++
	} else {
		b.lossy++
	}
	if b.fine < agreeing && b.lossy < agreeing {
		return
	}
	if t.upper = b.lossy == agreeing; !t.upper {
		b.carried++
	}
	if len(b.decided) == 0 {
		b.guess = t.got
	}
	b.decided = append(b.decided, *t)
	b.trying, b.active, b.fine, b.lossy = decision{}, false, 0, 0
}
