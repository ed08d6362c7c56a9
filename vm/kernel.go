package vm

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Kernel is a bootable kernel with its modules.
type Kernel struct {
	Image   string // as the boot loader takes it
	Release string // as uname -r prints it
	Modules string // its folder of modules, which depmod(8) has indexed
}

// OpenKernel reads which kernel an image is, and finds its modules: in lib/modules
// beside the image's folder, as packages put both, in the image's own folder, as those of Debian 13 and of Fedora
// do, or of the machine.
func OpenKernel(image string) (Kernel, error) {
	image, err := filepath.Abs(image)
	if err != nil {
		return Kernel{}, fmt.Errorf("find kernel %s: %w", image, err)
	}
	release, err := readRelease(image)
	if err != nil {
		return Kernel{}, fmt.Errorf("read kernel %s: %w; give a bzImage, as /boot/vmlinuz-* is", image, err)
	}
	beside := filepath.Join(filepath.Dir(filepath.Dir(image)), "lib/modules", release)
	for _, modules := range []string{beside, filepath.Dir(image), filepath.Join("/lib/modules", release)} {
		if _, err := os.Stat(filepath.Join(modules, "modules.dep")); err == nil {
			return Kernel{Image: image, Release: release, Modules: modules}, nil
		}
	}
	return Kernel{}, fmt.Errorf("find the modules of kernel %s: %s is not beside its folder nor in /, or depmod has not run; install its package", image, filepath.Join("lib/modules", release))
}

// readRelease reads the release from a bzImage's header (Documentation/arch/x86/boot.rst).
func readRelease(image string) (string, error) {
	file, err := os.Open(image)
	if err != nil {
		return "", err
	}
	defer file.Close()
	head := make([]byte, 64<<10)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return "", err
	}
	head = head[:n]
	const magic, version = 0x202, 0x20e
	if len(head) < version+2 || !bytes.Equal(head[magic:magic+4], []byte("HdrS")) {
		return "", errors.New("it has no boot header")
	}
	begin := 0x200 + int(binary.LittleEndian.Uint16(head[version:]))
	if begin >= len(head) {
		return "", errors.New("its header names no release")
	}
	text, _, _ := bytes.Cut(head[begin:], []byte{0})
	release, _, _ := strings.Cut(string(text), " ")
	if release == "" || strings.ContainsAny(release, "/\n") {
		return "", errors.New("its header names no release")
	}
	return release, nil
}

// modules are the files of modules and of what they depend on, in the order in which
// they can be inserted. What the kernel has built in needs none.
func (k Kernel) modules(names ...string) ([]string, error) {
	index, err := os.ReadFile(filepath.Join(k.Modules, "modules.dep"))
	if err != nil {
		return nil, fmt.Errorf("read the modules of kernel %s: %w", k.Release, err)
	}
	builtin, err := os.ReadFile(filepath.Join(k.Modules, "modules.builtin"))
	if err != nil {
		return nil, fmt.Errorf("read what kernel %s has built in: %w", k.Release, err)
	}
	var files []string
	for _, name := range names {
		if hasModule(string(builtin), name) {
			continue
		}
		found := false
		for line := range strings.Lines(string(index)) {
			file, needs, _ := strings.Cut(strings.TrimSpace(line), ":")
			if moduleName(file) != name {
				continue
			}
			found = true
			// depmod lists what a module needs from the last to the first.
			all := append([]string{file}, strings.Fields(needs)...)
			for _, file := range slices.Backward(all) {
				if path := filepath.Join(k.Modules, file); !slices.Contains(files, path) {
					files = append(files, path)
				}
			}
		}
		if !found {
			return nil, fmt.Errorf("find module %s of kernel %s: it has none; take a kernel that runs under QEMU, as a distribution's", name, k.Release)
		}
	}
	return files, nil
}

// hasModule reports whether a list of files holds a module.
func hasModule(files, name string) bool {
	for file := range strings.Lines(files) {
		if moduleName(strings.TrimSpace(file)) == name {
			return true
		}
	}
	return false
}

// moduleName is a module's, of a file such as net/9p/9pnet.ko.xz.
func moduleName(file string) string {
	name, _, _ := strings.Cut(filepath.Base(file), ".ko")
	return strings.ReplaceAll(name, "-", "_")
}
