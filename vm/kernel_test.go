package vm

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tare/test/labtest"
)

// image is a bzImage that names a release.
func image(release string) []byte {
	text := make([]byte, 4096)
	copy(text[0x202:], "HdrS")
	binary.LittleEndian.PutUint16(text[0x20e:], 0x600-0x200)
	copy(text[0x600:], release+" (builder@host) #1 SMP\x00")
	return text
}

func write(t *testing.T, name string, text []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestKernelBringsItsModules(t *testing.T) {
	root := t.TempDir()
	modules := filepath.Join(root, "lib/modules/6.1.0-9-amd64")
	write(t, filepath.Join(root, "boot/vmlinuz-6.1.0-9-amd64"), image("6.1.0-9-amd64"))
	write(t, filepath.Join(modules, "modules.builtin"), []byte("kernel/drivers/virtio/virtio.ko\nkernel/fs/overlayfs/overlay.ko\n"))
	write(t, filepath.Join(modules, "modules.dep"), []byte(
		"kernel/net/9p/9pnet.ko.xz:\n"+
			"kernel/net/9p/9pnet_virtio.ko.xz: kernel/net/9p/9pnet.ko.xz\n"+
			"kernel/fs/9p/9p.ko.xz: kernel/net/9p/9pnet.ko.xz kernel/fs/netfs/netfs.ko.xz\n"+
			"kernel/fs/netfs/netfs.ko.xz:\n"))
	k, err := OpenKernel(filepath.Join(root, "boot/vmlinuz-6.1.0-9-amd64"))
	if err != nil {
		t.Fatal(err)
	}
	labtest.Equal(t, "release", k.Release, "6.1.0-9-amd64")
	files, err := k.modules("9pnet_virtio", "9p", "overlay")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range files {
		names = append(names, moduleName(file))
	}
	if want := []string{"9pnet", "9pnet_virtio", "netfs", "9p"}; !slices.Equal(names, want) {
		t.Errorf("%v are inserted in this order, want %v", names, want)
	}
	if _, err := k.modules("virtio_pci"); err == nil || !strings.Contains(err.Error(), "virtio_pci") {
		t.Errorf("a module that is absent: %v", err)
	}
}

// Since Debian 13's backports of 2026 the image is among its modules, below usr/lib/modules.
func TestKernelAmongItsModules(t *testing.T) {
	modules := filepath.Join(t.TempDir(), "usr/lib/modules/7.3.4+deb13-amd64")
	write(t, filepath.Join(modules, "vmlinuz"), image("7.3.4+deb13-amd64"))
	write(t, filepath.Join(modules, "modules.dep"), nil)
	k, err := OpenKernel(filepath.Join(modules, "vmlinuz"))
	if err != nil {
		t.Fatal(err)
	}
	labtest.Equal(t, "its modules", k.Modules, modules)
}

func TestKernelIsRefused(t *testing.T) {
	root := t.TempDir()
	for name, test := range map[string]struct {
		text []byte
		want string
	}{
		"empty":       {nil, "boot header"},
		"ELF":         {append([]byte("\x7fELF"), make([]byte, 2000)...), "boot header"},
		"cut off":     {image("6.1.0")[:0x210], "names no release"},
		"of a path":   {image("../../etc"), "names no release"},
		"no release":  {image(""), "names no release"},
		"no modules":  {image("9.9.9-absent"), "install its package"},
		"header only": {image("6.1.0")[:0x206], "boot header"},
	} {
		file := filepath.Join(root, "boot", name)
		write(t, file, test.text)
		if _, err := OpenKernel(file); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
	if _, err := OpenKernel(filepath.Join(root, "absent")); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("an absent file: %v", err)
	}
}

// TestInitramfsIsACpioArchive reads it as the kernel does, by the lengths in its headers.
func TestInitramfsIsACpioArchive(t *testing.T) {
	program := filepath.Join(t.TempDir(), "program")
	module := filepath.Join(t.TempDir(), "9p.ko.xz")
	write(t, program, []byte("hello"))
	write(t, module, []byte("module"))
	text, err := initramfs(program, guest{Command: []string{"true"}}, []string{module})
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for at := 0; at < len(text); {
		head := text[at : at+110]
		labtest.Equal(t, "magic", string(head[:6]), "070701")
		field := func(n int) int {
			value, err := strconv.ParseUint(string(head[6+8*n:14+8*n]), 16, 32)
			if err != nil {
				t.Fatal(err)
			}
			return int(value)
		}
		size, nameLen := field(6), field(11)
		name := string(text[at+110 : at+110+nameLen-1])
		begin := (at + 110 + nameLen + 3) &^ 3
		files[name] = string(text[begin : begin+size])
		if name == "dev/console" {
			labtest.Equal(t, "major of the console", field(9), 5)
			labtest.Equal(t, "minor of the console", field(10), 1)
		}
		at = (begin + size + 3) &^ 3
	}
	labtest.Equal(t, "program", files["init"], "hello")
	labtest.Equal(t, "module", files["modules/000-9p.ko.xz"], "module")
	labtest.Contains(t, "task", files[guestFile], `"true"`)
	if _, ends := files["TRAILER!!!"]; !ends {
		t.Error("it has no end")
	}
}

// TestProgramWithLibrariesIsRefused: the first program of a guest has none.
func TestProgramWithLibrariesIsRefused(t *testing.T) {
	if err := CheckProgram("/bin/sh"); err == nil || !strings.Contains(err.Error(), "CGO_ENABLED=0") {
		t.Errorf("a shell: %v", err)
	}
}
