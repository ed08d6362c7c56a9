package page

import (
	"fmt"
	"testing"

	"tare/test/labtest"
)

func TestLinesAreSplitAsAShellDoes(t *testing.T) {
	for line, want := range map[string]string{
		`tare run --out a.json   # why`:                               `[{[tare run --out a.json] }]`,
		`tare run --endpoint h1='ssh a b' --x "c d" e\ f`:             `[{[tare run --endpoint h1=ssh a b --x c d e f] }]`,
		`tare image | docker load`:                                    `[{[tare image] } {[docker load] }]`,
		`tare run --dry-run > plan.yaml; tare run plan.yaml`:          `[{[tare run --dry-run] plan.yaml} {[tare run plan.yaml] }]`,
		`tare serve --bind 127.0.0.1:5210 >/dev/null 2>&1 &`:          `[{[tare serve --bind 127.0.0.1:5210] /dev/null}]`,
		`tare mesh --out mesh-$(date +%s).json && tare report *.json`: `[{[tare mesh --out mesh-*.json] } {[tare report *.json] }]`,
	} {
		labtest.Equal(t, line, fmt.Sprint(Commands(line)), want)
	}
}
