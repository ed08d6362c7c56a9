package foreign

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"tare/result"
)

// basis is what is known of what a run's times are of: its latencies and round trips.
type basis struct {
	observed   *float64      // so many observations; nil: not known
	resolution time.Duration // to which the tool rounds them down; 0: as fine as printed
	end        time.Duration // of the tool's histogram; 0: it has none
	note       string        // what each of them really is
	vain       bool          // nothing of what was tried succeeded
}

const (
	// noNumber and all above it are no numbers of a run in SI units: it is the largest integer of
	// JavaScript, which tools begin a minimum with, as they do with those of other languages.
	noNumber = 1<<53 - 1
	// enough observations must lie above a percentile.
	enough = 10
	// coarse is from how many times its resolution on a time is not much changed by it.
	coarse = 10
	// besideEnd is by how much the last bucket of a histogram may be below its end.
	besideEnd = 0.01
	// atLeast begins a warning on a time that may be longer.
	atLeast = "at least"
)

// observed notes of how many observations a run's times are.
func (b *builder) observed(count float64) { b.basis.observed = new(max(0, count)) }

// succeeded notes how much of what was tried did. Where nothing did, the run failed.
func (b *builder) succeeded(count float64, what string) {
	if count <= 0 {
		b.basis.vain = true
		b.fail("no " + what + " succeeded")
	}
}

// inVain takes out what is of failures alone, and leaves a rate of 0.
func (b *builder) inVain() {
	for name, value := range numbers(result.Cell{Samples: []result.Sample{b.sample}}) {
		if timeName.MatchString(name) || name == "throughput" || strings.HasPrefix(name, "rate") && value > 0 {
			b.drop(name)
		}
	}
}

// timeName is how a metric or a counter is called that is a time of answers.
var timeName = expressionOf(`^(?:latency|rtt)_(?:.*_)?(?:stdev|mean|way|min|max|p(\d+)(_\d+)?)$`)

// check takes out the times that no observation is behind, and marks those that are not what they
// look like.
func (b *builder) check() {
	if b.basis.vain {
		b.inVain()
	}
	all := maps.Clone(b.sample.Counters)
	maps.Copy(all, b.sample.Metrics)
	maps.DeleteFunc(all, func(name string, _ float64) bool { return !timeName.MatchString(name) })
	if len(all) == 0 {
		return
	}
	one, none := b.observes(1), b.observes(0)
	if b.basis.observed == nil {
		none = !slices.ContainsFunc(slices.Collect(maps.Values(all)), func(v float64) bool { return v > 0 })
	}
	for name, value := range all {
		percent, spread := percentOf(name), strings.HasSuffix(name, "stdev")
		switch {
		case none, one && (percent > 0 || spread), value == 0 && b.basis.resolution == 0 && !spread && !strings.HasSuffix(name, "min"):
			b.drop(name)
		case !spread:
			b.mark(name, b.doubts(value, percent)...)
		}
	}
	if none && b.cell.Status == result.StatusOK {
		b.warn("its times are 0: nothing was observed")
	}
	if one {
		b.warn("one observation is all there is: it has no percentiles, and its mean is of one")
	}
	for name, points := range b.sample.Series {
		if strings.HasPrefix(name, "latency_") && slices.Contains(points, 0) {
			delete(b.sample.Series, name) // in an interval nothing was answered
		}
	}
}

// observes reports whether the times are known to be of just so many observations.
func (b *builder) observes(count float64) bool {
	return b.basis.observed != nil && *b.basis.observed == count
}

// percentOf is the percentile that a name is of; 0: of none.
func percentOf(name string) float64 {
	m := timeName.FindStringSubmatch(name)
	if m[1] == "999" && m[2] == "" {
		return 99.9
	}
	return count(m[1] + strings.Replace(m[2], "_", ".", 1))
}

// doubts are why a time is not what it looks like.
func (b *builder) doubts(value, percent float64) []string {
	var texts []string
	if b.basis.note != "" {
		texts = append(texts, b.basis.note)
	}
	if r := b.basis.resolution.Seconds(); r > 0 && value < coarse*r {
		texts = append(texts, fmt.Sprintf("rounded down to steps of %v: up to %v more", b.basis.resolution, b.basis.resolution))
	}
	if end := b.basis.end.Seconds(); end > 0 && percent > 0 && value >= end*(1-besideEnd) {
		texts = append(texts, atLeast+fmt.Sprintf(" this: the tool's histogram ends at %v", b.basis.end))
	}
	if n := b.basis.observed; n != nil && percent > 0 && *n*(1-percent/100) < enough {
		texts = append(texts, "too few observations for this percentile")
	}
	return texts
}

// drop takes a metric or a counter out.
func (b *builder) drop(name string) {
	delete(b.sample.Metrics, name)
	delete(b.sample.Counters, name)
	b.cell.Metrics = slices.DeleteFunc(b.cell.Metrics, named(name))
}

// mark adds warnings to a metric. A counter has none, and those of the end of a histogram are the
// run's as well: few look at each percentile.
func (b *builder) mark(name string, warnings ...string) {
	for _, text := range warnings {
		if strings.HasPrefix(text, atLeast) {
			b.warn(name + " is " + text)
		}
	}
	if at := slices.IndexFunc(b.cell.Metrics, named(name)); at >= 0 {
		b.cell.Metrics[at].Warnings = append(b.cell.Metrics[at].Warnings, warnings...)
	}
}

// named is of the metric of a name.
func named(name string) func(result.Metric) bool {
	return func(m result.Metric) bool { return m.Name == name }
}
