package labtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// Binary is the environment variable with the path of the binary of tare that
// tests run. The Makefile builds it once for all packages.
const Binary = "TARE_BINARY"

// Tare returns the path of tare as it is released. Without Binary, the first
// test of each process that asks builds it into the user's cache.
func Tare(t testing.TB) string {
	t.Helper()
	NeedsTier(t)
	path := os.Getenv(Binary)
	if path == "" {
		var err error
		if path, err = built(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%s: %v: run make build, or unset it", Binary, err)
	}
	return path
}

var built = sync.OnceValues(func() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find a folder for tare: %w", err)
	}
	folder := filepath.Join(cache, "tare", "test")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", fmt.Errorf("make a folder for tare: %w", err)
	}
	// Packages are tested at the same time: each writes a file and renames it.
	own, path := filepath.Join(folder, fmt.Sprintf("tare.%d", os.Getpid())), filepath.Join(folder, "tare")
	cmd := exec.Command("go", "build", "-buildvcs=false", "-trimpath", "-ldflags", "-s -w", "-o", own, "tare/cmd/tare")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build tare: %w: %s", err, out)
	}
	if err := os.Rename(own, path); err != nil {
		return "", fmt.Errorf("build tare: %w", err)
	}
	return path, nil
})
