package foreign

import (
	"cmp"
	"strings"
	"time"

	"tare/result"
)

var (
	cannonSetup   = expressionOf(`^\s*(\d+)\s*connections(?:\s*with\s*(\d+)\s*pipelining\s*factor)?\s*$`)
	cannonWorkers = expressionOf(`^\s*(\d+)\s*workers\s*$`)
	cannonHead    = expressionOf(`^[\s│|]*(?:Stat|STAT)[\s│|]`)
	cannonRow     = expressionOf(`^[\s│|]*(Latency(?:\s*\((?:ms|s)\))?|Req/Sec|Bytes/Sec)[\s│|]*((?:\d|NaN).*)$`)
	cannonColumn  = expressionOf(`(?i)[\d.]+%|Avg|Stdev|Max|Min`)
	cannonCell    = expressionOf(`([\d.,]+|NaN)\s*(ms|us|s|kB|MB|GB|TB|PB|B|k|M)?`)
	cannonRank    = expressionOf(`^[\s│|]*(\d+(?:\.\d+)?)[\s│|]+([\d.]+)[\s│|]*$`)
	cannonRanks   = expressionOf(`Percentile[\s│|]+Latency`)
	cannonTotal   = expressionOf(`([\d.]+)(k|M)?\s*requests\s*in\s*([\d.]+)s,\s*([\d.]+)\s*(k|M|G|T)?B\s*read`)
	cannonBad     = expressionOf(`(\d+)\s*2xx\s*responses,\s*(\d+)\s*non\s*2xx`)
	cannonErrors  = expressionOf(`^\s*([\d.]+)(k|M)?\s*errors\s*\(([\d.]+)(k|M)?\s*timeouts\)`)
	cannonOdd     = expressionOf(`^\s*([\d.]+)(k|M)?\s*requests\s*with\s*(mismatched)\s*body|request\s*pipeline\s*was\s*(reset)(?:ted)?\s*([\d.]+)(k|M)?\s*times?`)
	cannonWords   = expressionOf(`Req/Bytes counts sampled|# of samples: \d+`)
	cannonFrame   = expressionOf(`^\s*[┌├└][─┬┼┴┐┤┘]`)
)

func hintsAutocannon() []string {
	return []string{"autocannon", "unning", "connections", "Stat", "STAT", "atency", "/Sec", "ercentile", "requests", "2xx", "errors", "counts", "samples", "reset", "┌", "├", "└"}
}

func claimsAutocannon(ahead []string) claim {
	line := ahead[0]
	switch {
	case wrkRunning.MatchString(line) && soon(ahead, cannonSetup), matchesAny(line, cannonBad, cannonErrors, cannonOdd, cannonWords):
		return certain
	case matchesAny(line, cannonHead, cannonRow, cannonRanks) && strings.ContainsAny(line, "│|"): // its frame
		return certain
	}
	return maybe(matchesAny(line, wrkRunning, cannonSetup, cannonHead, cannonRow, cannonRanks, cannonTotal, cannonFrame))
}

// cannonRun is one run as far as its lines were read.
type cannonRun struct {
	command command
	seen    map[string][]string
	columns []string                     // of the table that is being read
	rows    map[string]map[string]string // row, column, the cell with its unit
	ranks   map[string]float64
	odd     [][]string // answers with another body, pipelines that began anew
	inRanks bool
}

// readAutocannon reads autocannon's tables, with frames or without.
func readAutocannon(lines []string) []result.Cell {
	return readRuns(lines, func(c command) *cannonRun {
		return &cannonRun{command: c, seen: map[string][]string{}, rows: map[string]map[string]string{}, ranks: map[string]float64{}}
	})
}

func (run *cannonRun) isOver(line string) bool {
	m := cannonRow.FindStringSubmatch(line)
	whole := run.rows["Latency"] != nil && run.rows["Req/Sec"] != nil
	return wrkRunning.MatchString(line) || m != nil && run.rows[rowName(m[1])] != nil || whole && cannonHead.MatchString(line) ||
		run.seen["total"] != nil && matchesAny(line, cannonTotal, cannonHead)
}

func (run *cannonRun) read(line string) {
	for name, pattern := range map[string]expression{
		"running": wrkRunning, "setup": cannonSetup, "workers": cannonWorkers, "total": cannonTotal, "bad": cannonBad, "errors": cannonErrors,
	} {
		if m := pattern.FindStringSubmatch(line); m != nil && run.seen[name] == nil {
			run.seen[name] = m
		}
	}
	if m := cannonOdd.FindStringSubmatch(line); m != nil {
		run.odd = append(run.odd, m)
	}
	switch {
	case cannonRanks.MatchString(line):
		run.inRanks = true
	case cannonHead.MatchString(line):
		run.columns = nil
		for _, name := range cannonColumn().FindAllString(line, -1) {
			run.columns = append(run.columns, name[:1]+strings.ToLower(name[1:]))
		}
	case cannonRow.MatchString(line):
		run.readRow(cannonRow.FindStringSubmatch(line))
	case run.inRanks && cannonRank.MatchString(line):
		m := cannonRank.FindStringSubmatch(line)
		run.ranks[m[1]] = seconds(count(m[2]), time.Millisecond)
	}
}

// rowName is the first word of a row, and the unit that older versions put
// there.
func rowName(text string) string {
	name, _, _ := strings.Cut(text, "(")
	return strings.TrimSpace(name)
}

// readRow takes a row of a table. Where cells are missing, it is unknown which.
func (run *cannonRun) readRow(m []string) {
	cells := cannonCell().FindAllStringSubmatch(m[2], -1)
	if len(cells) != len(run.columns) {
		return
	}
	row := map[string]string{}
	for n, cell := range cells {
		unit := cell[2]
		if strings.HasSuffix(m[1], "(ms)") {
			unit = "ms"
		}
		row[run.columns[n]] = cell[1] + " " + unit
	}
	run.rows[rowName(m[1])] = row
}

// cells makes the run a cell.
func (run *cannonRun) cells() []result.Cell {
	if len(run.rows)+len(run.seen) == 0 {
		return nil
	}
	b := newCannon()
	if m := run.seen["running"]; m != nil {
		b.param("url", m[2])
	}
	if m := run.seen["setup"]; m != nil {
		b.param("connections", int(count(m[1])))
		b.param("pipelining", max(1, int(count(m[2])))) // one is not printed
	}
	if m := run.seen["workers"]; m != nil {
		b.param("workers", int(count(m[1])))
	}
	b.param("rate", run.command.rate("-R", "--overallRate"))
	if m := run.seen["total"]; m != nil {
		b.param("duration", count(m[3]))
		b.counter("sent", count(m[1])*kilo(m[2]))
	}
	if m := run.seen["running"]; m != nil {
		if v, ok := parseSpan(m[1]); ok {
			b.param("duration", v)
		}
	}
	run.metrics(b)
	if m := run.seen["bad"]; m != nil && count(m[2]) > 0 {
		b.counter("answered_2xx", count(m[1]))
		b.counter("non_2xx", count(m[2]))
		b.warn(m[2] + " responses were not 2xx")
	}
	if m := run.seen["errors"]; m != nil {
		b.counter("errors", count(m[1])*kilo(m[2]))
		b.counter("errors_timeout", count(m[3])*kilo(m[4]))
		b.warn(strings.TrimSpace(m[0]))
	}
	for _, m := range run.odd {
		b.odd(cmp.Or(m[3], m[4]), count(m[1]+m[5])*kilo(m[2]+m[6]))
	}
	run.basis(b)
	if len(b.cell.Metrics) == 0 {
		b.warn("no figures: the text breaks off before them")
	}
	return []result.Cell{b.done()}
}

// basis notes how many requests were answered: each second so many, in the table.
func (run *cannonRun) basis(b *builder) {
	took, sent := 0.0, 0.0
	rate, known := b.sample.Metrics["rate"]
	if m := run.seen["total"]; m != nil {
		took, sent = count(m[3]), b.sample.Counters["sent"]
	}
	if run.paced(rate*took, sent) {
		b.basis.note = cannonCorrected
	}
	switch {
	case !known || took == 0 && rate > 0:
		b.basis.resolution = time.Millisecond
	case run.amount() > 0:
		b.answers(run.amount(), run.amount())
	default:
		if m := run.seen["total"]; m != nil && m[2] != "" {
			sent -= kilo(m[2]) / 2 // it is rounded to whole ones
		}
		b.answers(sent, rate*took)
	}
}

// paced reports whether a run kept a rate: its command says so, or each of its seconds had as many
// requests and, as one with a rate counts those of the first twice, more were sent than answered.
func (run *cannonRun) paced(answered, sent float64) bool {
	for _, name := range [][2]string{{"-R", "--overallRate"}, {"-r", "--connectionRate"}} {
		if _, typed := run.command.flag(name[0], name[1]); typed {
			return true
		}
	}
	row := run.rows["Req/Sec"]
	return strings.TrimSpace(row["Stdev"]) == "0" && row["Avg"] == row["1%"] && run.seen["setup"] != nil && run.seen["total"] != nil &&
		run.seen["total"][2] == "" && sent-answered > 2*count(run.seen["setup"][1])
}

// amount is how many requests there were to be; 0: as many as a time allows.
func (run *cannonRun) amount() float64 {
	if m := run.seen["running"]; m != nil {
		if text, found := strings.CutSuffix(m[1], "requests"); found {
			return count(strings.TrimSpace(text))
		}
	}
	return 0
}

// codes is how many answers had a code, where the text says it; of the requests it has thousands, rounded.
func (run *cannonRun) codes() float64 {
	if m := run.seen["bad"]; m != nil {
		return count(m[1]) + count(m[2])
	}
	return 0
}

// metrics notes the tables. autocannon's units of bytes are decimal.
func (run *cannonRun) metrics(b *builder) {
	get := func(row, column string) (float64, bool) {
		text, unit, _ := strings.Cut(run.rows[row][column], " ")
		v, ok := parseNumber(text)
		if row == "Latency" {
			return seconds(v, unitOf(unit)), ok && unitOf(unit) > 0
		}
		return v * kilo(strings.TrimSuffix(unit, "B")), ok
	}
	if m := run.seen["total"]; m != nil && count(m[3]) > 0 && run.amount() > 0 {
		b.metric("rate", run.amount()/count(m[3]), ofAmount)
	}
	if v, ok := get("Req/Sec", "Avg"); ok {
		b.metric("rate", v)
	} else if m := run.seen["total"]; m != nil && count(m[3]) > 0 {
		b.metric("rate", cmp.Or(run.codes(), count(m[1])*kilo(m[2]))/count(m[3]), "the table is missing: requests over the time they took")
	}
	if v, ok := get("Bytes/Sec", "Avg"); ok {
		b.metric("throughput", 8*v, "with the headers of HTTP")
	}
	if v, ok := get("Latency", "Avg"); ok {
		b.metric("latency_mean", v)
	}
	for column := range run.rows["Latency"] {
		percent, isRank := strings.CutSuffix(column, "%")
		v, ok := get("Latency", column)
		switch {
		case ok && isRank:
			b.percentile(percent, v)
		case ok && column != "Avg":
			b.counter("latency_"+strings.ToLower(column), v)
		}
	}
	for percent, v := range run.ranks {
		b.percentile(percent, v)
	}
	for column, name := range map[string]string{"Stdev": "rate_stdev", "Min": "rate_min", "1%": "rate_p1", "2.5%": "rate_p2_5", "50%": "rate_p50", "97.5%": "rate_p97_5"} {
		if v, ok := get("Req/Sec", column); ok {
			b.counter(name, v)
		}
	}
}
