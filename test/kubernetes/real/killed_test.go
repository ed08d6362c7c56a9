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
func TestRealClusterKilled(t *testing.T) {
	for _, victim := range []string{"kubelet", "etcd", "tare keeper"} {
		t.Run(victim, func(t *testing.T) {
			leavesNothing(t)
			start(t)
			if killed := kill(t, victim); killed == 0 {
				t.Fatal("nothing was killed")
			}
			down(t)
		})
	}
}

// kill kills the processes of the cluster whose command line has some words.
func kill(t *testing.T, words string) (killed int) {
	t.Helper()
	for _, line := range processes(t) {
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
