package foreign

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tare/result"
)

// fuzz feeds a parser with what its tool printed, and with what that becomes:
// it must not panic, and what it returns must be numbers.
func fuzz(f *testing.F, folder string, parse func(text string) []result.Cell) {
	for _, path := range fixtures(f) {
		if filepath.Base(filepath.Dir(path)) == folder {
			f.Add(string(read(f, path)))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, cell := range parse(text) {
			checkNumbers(t, cell)
		}
		cells, err := Read("fuzz", []byte(text))
		if err == nil && len(cells) == 0 {
			t.Error("neither a cell nor an error")
		}
		for _, cell := range cells {
			checkNumbers(t, cell)
		}
	})
}

func checkNumbers(t *testing.T, c result.Cell) {
	t.Helper()
	check := func(what string, values ...float64) {
		if slices.ContainsFunc(values, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) || v < 0 }) {
			t.Errorf("%s %s is %v", c.Mode, what, values)
		}
	}
	for _, m := range c.Metrics {
		check(m.Name, m.Value)
		if q, known := result.QuantityOf(m.Name); !known || m.Unit != q.Unit || m.N != 1 {
			t.Errorf("%+v is no metric of a result", m)
		}
	}
	for _, s := range c.Samples {
		for name, v := range s.Metrics {
			check(name, v)
		}
		for name, v := range s.Counters {
			check(name, v)
		}
		for name, points := range s.Series {
			check(name, points...)
		}
	}
	for name, value := range c.Params {
		switch v := value.(type) {
		case float64:
			check(name, v)
		case int:
			check(name, float64(v))
		case int64:
			check(name, float64(v))
		}
	}
}

// ofText makes a parser of lines one of text.
func ofText(parse func([]string) []result.Cell) func(string) []result.Cell {
	return func(text string) []result.Cell { return parse(clean([]byte(text))) }
}

// ofDocuments makes a parser of documents one of text.
func ofDocuments(parse func([]byte, bool) ([]result.Cell, bool)) func(string) []result.Cell {
	return func(text string) []result.Cell {
		cells, _ := parse([]byte(text), false)
		if doc, _, _, cut := new(documents).at(strings.Split(text, "\n"), 0); doc != nil {
			more, _ := parse(doc, cut)
			cells = append(cells, more...)
		}
		return cells
	}
}

func FuzzIperf3(f *testing.F)         { fuzz(f, "iperf3", ofText(readIperf3)) }
func FuzzIperf3JSON(f *testing.F)     { fuzz(f, "iperf3", ofDocuments(readIperf3JSON)) }
func FuzzIperf2(f *testing.F)         { fuzz(f, "iperf2", ofText(readIperf2)) }
func FuzzQperf(f *testing.F)          { fuzz(f, "qperf", ofText(readQperf)) }
func FuzzSockperf(f *testing.F)       { fuzz(f, "sockperf", ofText(readSockperf)) }
func FuzzWrk(f *testing.F)            { fuzz(f, "wrk2", ofText(readWrk)) }
func FuzzAutocannon(f *testing.F)     { fuzz(f, "autocannon", ofText(readAutocannon)) }
func FuzzAutocannonJSON(f *testing.F) { fuzz(f, "autocannon", ofDocuments(readAutocannonJSON)) }
func FuzzSysbench(f *testing.F)       { fuzz(f, "sysbench", ofText(readSysbench)) }
func FuzzStress(f *testing.F)         { fuzz(f, "containerd-stress", ofText(readStress)) }
func FuzzStressJSON(f *testing.F)     { fuzz(f, "containerd-stress", ofDocuments(readStressJSON)) }
func FuzzNetperf(f *testing.F)        { fuzz(f, "netperf", ofText(readNetperf)) }
func FuzzPing(f *testing.F)           { fuzz(f, "ping", ofText(readPing)) }
func FuzzH2load(f *testing.F)         { fuzz(f, "h2load", ofText(readH2load)) }
func FuzzFortioJSON(f *testing.F)     { fuzz(f, "fortio", ofDocuments(readFortioJSON)) }
func FuzzGhzJSON(f *testing.F)        { fuzz(f, "ghz", ofDocuments(readGhzJSON)) }
func FuzzK6JSON(f *testing.F)         { fuzz(f, "k6", ofDocuments(readK6JSON)) }
func FuzzMemtierJSON(f *testing.F)    { fuzz(f, "memtier", ofDocuments(readMemtierJSON)) }
func FuzzVegetaJSON(f *testing.F)     { fuzz(f, "vegeta", ofDocuments(readVegetaJSON)) }
