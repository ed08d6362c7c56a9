package vm

import (
	"bytes"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// archive is an initramfs: the "newc" format of cpio(5), as
// Documentation/driver-api/early-userspace/buffer-format.rst has it.
type archive struct {
	bytes.Buffer
	files int
}

// add adds a file, a folder or, with a device number, a device.
func (a *archive) add(name string, mode, device uint32, data []byte) {
	a.files++
	fmt.Fprintf(a, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x", a.files, mode, 0, 0, 1, 0, len(data), 0, 0,
		unix.Major(uint64(device)), unix.Minor(uint64(device)), len(name)+1, 0)
	a.WriteString(name + "\x00")
	a.pad()
	a.Write(data)
	a.pad()
}

func (a *archive) pad() { a.Write(make([]byte, -a.Len()&3)) }

func (a *archive) end() { a.add("TRAILER!!!", 0, 0, nil) }

// initramfs is what a guest begins with: this program, the modules that it needs to
// reach its root, and what it is to do.
func initramfs(program string, g guest, modules []string) ([]byte, error) {
	a := &archive{}
	for _, folder := range []string{"dev", "proc", "sys", "modules", lower, upper, root} {
		a.add(folder, unix.S_IFDIR|0o755, 0, nil)
	}
	// Before /dev is mounted, a Go program needs these as its standard files.
	a.add("dev/console", unix.S_IFCHR|0o600, uint32(unix.Mkdev(5, 1)), nil)
	a.add("dev/null", unix.S_IFCHR|0o666, uint32(unix.Mkdev(1, 3)), nil)
	text, err := os.ReadFile(program)
	if err != nil {
		return nil, fmt.Errorf("read the program of the guest: %w", err)
	}
	a.add("init", unix.S_IFREG|0o755, 0, text)
	for n, file := range modules {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read module: %w", err)
		}
		name := fmt.Sprintf("modules/%03d-%s", n, filepath.Base(file))
		a.add(name, unix.S_IFREG|0o644, 0, data)
	}
	spec, err := json.Marshal(g)
	if err != nil {
		return nil, fmt.Errorf("write what the guest is to do: %w", err)
	}
	a.add(guestFile, unix.S_IFREG|0o644, 0, spec)
	a.end()
	return a.Bytes(), nil
}

// CheckProgram refuses a program that can't be a guest's first: it begins without libraries.
func CheckProgram(program string) error {
	file, err := elf.Open(program)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(file.Progs, func(part *elf.Prog) bool { return part.Type == elf.PT_INTERP }) {
		err = errors.New("it needs libraries: build it with CGO_ENABLED=0, as make build does")
	}
	return errors.Join(err, file.Close())
}
