package site

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// machine opens the machine's own network namespace: that in which the
// keeper's listening socket was made, before the keeper got a new one
// (SIOCGSKNS, Linux 4.10). Only root may.
func (k *keeper) machine() (*os.File, error) {
	raw, err := k.listener.SyscallConn()
	if err != nil {
		return nil, fmt.Errorf("open the machine's network namespace: %w", err)
	}
	var file *os.File
	var asked error
	err = raw.Control(func(fd uintptr) {
		var ns int
		if ns, asked = unix.IoctlRetInt(int(fd), unix.SIOCGSKNS); asked == nil {
			unix.CloseOnExec(ns)
			file = os.NewFile(uintptr(ns), "network namespace")
		}
	})
	if err == nil {
		err = asked
	}
	if err != nil {
		return nil, fmt.Errorf("open the machine's network namespace: %w: run tare as root", err)
	}
	return file, nil
}
