package vm

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// files are those of QEMU. They are in memory (memfd_create(2), Linux 3.17), so that nothing
// is left of them whatever ends this process.
type files struct {
	initramfs, console, status *os.File
}

func openFiles(initramfs []byte) (f files, err error) {
	for _, one := range []struct {
		name string
		to   **os.File
	}{{"initramfs", &f.initramfs}, {"console", &f.console}, {"status", &f.status}} {
		fd, err := unix.MemfdCreate(one.name, unix.MFD_CLOEXEC)
		if err != nil {
			return f, errors.Join(fmt.Errorf("make QEMU's %s: %w", one.name, err), f.close())
		}
		*one.to = os.NewFile(uintptr(fd), one.name)
	}
	if _, err := f.initramfs.Write(initramfs); err != nil {
		return f, errors.Join(fmt.Errorf("write the initramfs: %w", err), f.close())
	}
	return f, nil
}

// inherited are the files in the order in which QEMU has them, from descriptor 3 on.
func (f files) inherited() []*os.File { return []*os.File{f.initramfs, f.console, f.status} }

// The paths of the files in QEMU.
const (
	initramfsPath = "/proc/self/fd/3"
	consolePath   = "/proc/self/fd/4"
	statusPath    = "/proc/self/fd/5"
)

func (f files) close() (err error) {
	for _, file := range f.inherited() {
		if file != nil {
			err = errors.Join(err, file.Close())
		}
	}
	return err
}

// text is what QEMU wrote into a file.
func text(file *os.File) (string, error) {
	all, err := io.ReadAll(io.NewSectionReader(file, 0, 1<<20))
	if err != nil {
		return "", fmt.Errorf("read the %s of a guest: %w", file.Name(), err)
	}
	return string(all), nil
}
