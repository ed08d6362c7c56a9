package site

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"tare/test/labtest"
)

// What a killed writer left of an entry goes, and the ledger with it; the entry of a writer at
// work, who locks it, stays, and so do labs.
func TestUnfinishedEntriesGo(t *testing.T) {
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
		if slices.Contains(c.others, ".other.json.2") {
			file, err := os.Open(filepath.Join(dir, ".other.json.2"))
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			if err := unix.Flock(int(file.Fd()), unix.LOCK_EX); err != nil {
				t.Fatal(err)
			}
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
