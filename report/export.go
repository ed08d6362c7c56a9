package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"tare/result"
)

// Format is a format that results can be written in.
type Format struct {
	Name string
	Doc  string // one line
	Ends string // of the files that hold it, as ".csv"; empty: there is none
	Most int    // cells that it is written of; 0: any number
	Mesh bool   // it holds a mesh, too
	// Write writes the results, with the words of a language where people read them;
	// "" leaves the choice to the reader, or is English. left names the cells that the format can't hold;
	// where it holds none, nothing is written.
	Write func(w io.Writer, results []*result.Result, lang string) (left []string, err error)
}

// MostCells is how many cells are shown to people: more would not be read, and take
// minutes to arrange.
const MostCells = 20000

// Formats lists the formats.
func Formats() []Format {
	return []Format{
		{"html", "one page with charts, for people: self-contained, English and Chinese", ".html", MostCells, true, writeHTML},
		{"markdown", "tables with bars, for a pull request", ".md", MostCells, false, writeMarkdown},
		{"csv", "a tidy table: a row per metric of each cell", ".csv", 0, false, writeCSV},
		{"gobench", "Go's benchmark lines, for benchstat: one per cell and block", "", 0, false, writeGoBench},
		{"openmetrics", "OpenMetrics text for monitoring: every metric and toll with its interval; of a mesh who is named", "", 0, true, writeOpenMetrics},
		{"junit", "a JUnit report for CI systems: a test per cell, which fails or is skipped as the cell did", "", 0, false, writeJUnit},
		{"iperf3-json", "the JSON of iperf3 -J: a document per cell, an array of several", "", 0, false, writeIperf3JSON},
	}
}

// FormatNames are the words for the formats.
func FormatNames() []string {
	return result.Names(Formats(), func(f Format) string { return f.Name })
}

// OfMeshes are the words for the formats that hold a mesh.
func OfMeshes() []string {
	return result.Names(slices.DeleteFunc(Formats(), func(f Format) bool { return !f.Mesh }), func(f Format) string { return f.Name })
}

// FindFormat finds a format by its word.
func FindFormat(name string) (Format, bool) {
	return result.First(Formats(), func(f Format) bool { return f.Name == name })
}

// FormatOf finds the format that a file's name ends with.
func FormatOf(file string) (Format, bool) {
	return result.First(Formats(), func(f Format) bool { return f.Ends != "" && strings.HasSuffix(file, f.Ends) })
}

// nameOf identifies a cell: "vxlan cross-host tcp_stream".
func nameOf(c *result.Cell) string {
	text := strings.Join(strings.Fields(c.Network+" "+c.Path+" "+c.Workload+" "+c.Mode), " ")
	if c.Status != result.StatusOK {
		text += fmt.Sprintf(" (%s: %s)", c.Status, c.Reason)
	}
	return result.Plain(text)
}
