package page

import (
	"fmt"
	"os"
	"path/filepath"
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

func TestCommandLinesAreFoundInAllCode(t *testing.T) {
	dir := t.TempDir()
	document := "Type `tare list` or\n\n    tare run --out a.json   # indented\n\n```sh\ngo run ./cmd/tare run\n" +
		"tare run --networks a,\\\nb\nnft add table ip tare\n```\n\n```console\n$ tare trend soak\ntare quick: 2 networks\n" +
		"$ cat log | tare import -\n```\ntare is no command here\n"
	if err := os.WriteFile(filepath.Join(dir, "a.md"), []byte(document), 0o600); err != nil {
		t.Fatal(err)
	}
	found, err := TypedIn(dir, "a.md", "tare")
	if err != nil {
		t.Fatal(err)
	}
	labtest.Equal(t, "lines", fmt.Sprint(found), "[{1 tare list true} {3 tare run --out a.json   # indented false} {6 tare run false} "+
		"{7 tare run --networks a,b false} {13 tare trend soak false} {15 cat log | tare import - false}]")
}
