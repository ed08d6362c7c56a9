package runsc

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"tare/lab"
)

// ExecVerb is the hidden command that starts a process in a sandbox of the host in which it
// runs: ExecVerb CONTAINER COMMAND...
const ExecVerb = "sandbox-exec"

// Exec runs `runsc exec`, and forwards the signals that it receives to the process in the
// sandbox, as runsc does for a terminal only. status is that process's exit status.
func Exec(container string, argv []string) (status int, err error) {
	file, err := os.CreateTemp(folder, "exec-") // for the process's number in the sandbox
	if err != nil {
		return 0, fmt.Errorf("start process in sandbox: %w", err)
	}
	defer func() { err = errors.Join(err, os.Remove(file.Name())) }()
	if err := file.Close(); err != nil {
		return 0, err
	}
	whole, err := command(append([]string{"exec", "--internal-pid-file", file.Name(), container}, argv...)...)
	if err != nil {
		return 0, err
	}
	return lab.ExecInSandbox(whole, func(sig syscall.Signal) ([]string, error) {
		text, err := os.ReadFile(file.Name())
		if pid := strings.TrimSpace(string(text)); err == nil && pid != "" {
			return command("kill", "--pid", pid, container, strconv.Itoa(int(sig)))
		}
		return nil, err
	})
}
