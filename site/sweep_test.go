package site

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"tare/test/labtest"
)

// What a killed writer left of an entry goes once it is old, and the ledger with it; the
// entry of a writer at work stays, and so do labs.
func TestUnfinishedEntriesGo(t *testing.T) {
	old := time.Now().Add(-2 * unfinished)
	for name, c := range map[string]struct {
		others []string
		left   int // files; -1: the ledger is gone
	}{
		"alone":                {nil, -1},
		"beside a lab":         {[]string{"mine.json"}, 1},
		"beside one at work":   {[]string{".other.json.2"}, 1},
		"beside another lab's": {[]string{"mine.json", "mine.sock"}, 2},
	} {
		dir := filepath.Join(t.TempDir(), "ledger")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, file := range append(c.others, ".killed.json.1") {
			if err := os.WriteFile(filepath.Join(dir, file), []byte("{"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chtimes(filepath.Join(dir, ".killed.json.1"), old, old); err != nil {
			t.Fatal(err)
		}
		if err := sweepUnfinished(dir); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		left := -1
		if files, err := os.ReadDir(dir); err == nil {
			left = len(files)
		}
		labtest.Equal(t, name+": files left", left, c.left)
	}
}
