package foreign

import (
	"fmt"
	"slices"
	"strings"

	"tare/result"
)

// textRun is one run of a tool as far as its lines were read.
type textRun interface {
	isOver(line string) bool // the line belongs to the next run
	read(line string)
	cells() []result.Cell // none where nothing of a run was read
}

// readRuns reads the text of a tool whose runs begin with the command that was typed
// above them, if there is one, or where the one before is over.
func readRuns[R textRun](lines []string, fresh func(c command) R) []result.Cell {
	var cells []result.Cell
	var typed command
	var vain []string // commands that lines with numbers follow of which no run was made
	numbers := 0
	run := fresh(typed)
	take := func() {
		done := run.cells()
		if len(done) == 0 && numbers > 0 && len(typed.args) > 0 {
			vain = append(vain, typed.tool+" "+strings.Join(typed.args, " "))
		}
		cells, numbers = append(cells, done...), 0
	}
	for _, line := range lines {
		switch c, isCommand := commandIn(line); {
		case isCommand:
			take()
			typed = c
			run = fresh(typed)
			continue
		case run.isOver(line):
			done := run.cells()
			cells = append(cells, done...)
			if len(done) > 0 && !loops(typed) { // without a run it is the first line of one
				typed = command{}
			}
			run = fresh(typed)
		}
		run.read(line)
		if strings.ContainsAny(line, "0123456789") && !heading.MatchString(line) {
			numbers++
		}
	}
	take()
	for _, command := range vain[:min(len(vain), len(cells))] {
		caution(&cells[len(cells)-1], fmt.Sprintf("nothing was read of what %q printed", command))
	}
	return cells
}

// loops reports whether a command was typed once for many runs: an argument of it is a variable of a shell.
func loops(c command) bool {
	return slices.ContainsFunc(c.args, func(arg string) bool { return strings.Contains(arg, "$") })
}
