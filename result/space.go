package result

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// freeBytes is the room left for an ordinary user on the file's file system.
func freeBytes(file *os.File) (int64, error) {
	var fs unix.Statfs_t
	if err := unix.Fstatfs(int(file.Fd()), &fs); err != nil {
		return 0, fmt.Errorf("read free space of %s: %w", file.Name(), err)
	}
	return int64(fs.Bavail) * fs.Bsize, nil
}
