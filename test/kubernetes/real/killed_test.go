package real

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// kill kills the processes of the cluster whose command line has some words.
func (c cluster) kill(words string) (killed int) {
	t := c.t
	t.Helper()
	for _, line := range processes(t, mark+c.name) {
		path, command, _ := strings.Cut(line, ": ")
		pid, err := strconv.Atoi(filepath.Base(path))
		if err != nil || pid == os.Getpid() {
			t.Fatalf("%s: %v", line, err)
		}
		if !strings.Contains(command, words) {
			continue
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		killed++
	}
	return killed
}
