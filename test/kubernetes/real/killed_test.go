package real

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// Whatever of a cluster is killed, it can be taken down and started again.
func testClusterKilled(victim string) func(*testing.T) {
	return func(t *testing.T) {
		c := start(t)
		if killed := c.kill(victim); killed == 0 {
			t.Fatal("nothing was killed")
		}
		c.down()
	}
}

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
