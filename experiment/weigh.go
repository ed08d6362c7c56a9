package experiment

import (
	"time"

	"tare/result"
	"tare/weigh"
)

// weigh turns the samples so far into metrics, tolls and A/A.
func (r *recorder) weigh() {
	start := time.Now()
	defer func() { r.weighed = time.Since(start) }()
	cells := make([]*result.Cell, len(r.order))
	for n, key := range r.order {
		cells[n] = r.cells[key]
	}
	r.res.Noise.AA = weigh.Result(cells, weigh.Options{
		Margin: r.plan.Margin, Last: r.last,
		Warnings: r.warningsFor,
	})
	if r.last {
		r.res.Noise.CarryOver = weigh.CarryOvers(weigh.GroupsOf(cells))
		for _, c := range r.res.Noise.CarryOver {
			r.res.Warnings = append(r.res.Warnings, weigh.SlotWarnings(c)...)
		}
	}
	r.gather()
}

// weighShare is how much longer than its weighing a block must be for the
// result to be weighed after it.
const weighShare = 20

// weighSome brings the result up to date after a block: the samples always,
// the metrics where weighing takes little compared with the block.
func (r *recorder) weighSome(block time.Duration) {
	if r.plan.Precision > 0 || r.weighed < block/weighShare {
		r.weigh()
	} else {
		r.gather()
	}
}

// soFar is the result so far, weighed by the headline of each workload alone.
func (r *recorder) soFar() *result.Result {
	res, cells := *r.res, make([]*result.Cell, len(r.order))
	for n, key := range r.order {
		cell := *r.cells[key]
		cells[n] = &cell
	}
	weigh.Result(cells, weigh.Options{
		Margin: r.plan.Margin, Headlines: true,
		Warnings: func(*result.Cell) []string { return nil },
	})
	res.Cells = make([]result.Cell, len(cells))
	for n, cell := range cells {
		res.Cells[n] = *cell
	}
	return &res
}

// gather copies the cells into the result.
func (r *recorder) gather() {
	r.res.Cells = r.res.Cells[:0]
	for _, key := range r.order {
		r.res.Cells = append(r.res.Cells, *r.cells[key])
	}
}
