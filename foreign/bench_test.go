package foreign

import (
	"bytes"
	"path/filepath"
	"testing"
)

// BenchmarkRead reads a log of 1.4 MB: ten times all that the tools printed.
func BenchmarkRead(b *testing.B) {
	var all []byte
	for _, path := range fixtures(b) {
		if filepath.Ext(path) == ".txt" {
			all = append(all, read(b, path)...)
		}
	}
	log := bytes.Repeat(all, 10)
	b.SetBytes(int64(len(log)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read("log", log); err != nil {
			b.Fatal(err)
		}
	}
}
