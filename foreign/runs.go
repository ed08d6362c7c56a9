package foreign

import "tare/result"

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
	run := fresh(typed)
	for _, line := range lines {
		switch c, isCommand := commandIn(line); {
		case isCommand:
			cells = append(cells, run.cells()...)
			typed = c
			run = fresh(typed)
			continue
		case run.isOver(line):
			done := run.cells()
			cells = append(cells, done...)
			if len(done) > 0 { // else it is the run's first line
				typed = command{}
			}
			run = fresh(typed)
		}
		run.read(line)
	}
	return append(cells, run.cells()...)
}
