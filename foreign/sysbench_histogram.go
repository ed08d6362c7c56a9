package foreign

var sysbenchBucket = expressionOf(`^\s*(\d+\.\d+)\s*\|\**\s+(\d+)\s*$`)

// bucket is a line of sysbench's latency histogram: so many events of about a
// latency. Source: sb_histogram.c of sysbench 1.0, with 1024 buckets from 1 us
// to 100 s, each a constant ratio above the one before, of which those with
// events are printed.
type bucket struct{ latency, events float64 } // s

const (
	bucketRatio = 1.01817 // between two buckets: 1e8 to the power of 1/1023
	printedStep = 1e-6    // s, the last digit of a printed latency
)

// quantile is the latency that the fraction q of the events does not exceed,
// 0 < q < 1. Within a bucket they are taken as spread evenly: the buckets
// alone would move a percentile in steps of 1.8 %, or of 1 us.
func quantile(histogram []bucket, q float64) float64 {
	var all, below float64
	for _, b := range histogram {
		all += b.events
	}
	for at := 0; at < len(histogram); at++ {
		b := histogram[at]
		for at+1 < len(histogram) && histogram[at+1].latency == b.latency { // printed alike
			at++
			b.events += histogram[at].events
		}
		if below += b.events; below >= q*all {
			half := max(printedStep, b.latency*(bucketRatio-1)) / 2
			return b.latency + half - 2*half*(below-q*all)/b.events
		}
	}
	return 0
}
