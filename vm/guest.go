package vm

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// InitVerb is the verb by which a program that boots machines calls Init in them.
const InitVerb = "vm-init"

// guest is what the first process of a machine is to do.
type guest struct {
	Release string // of the kernel
	Modules string // its folder, in the machine's files
	Command []string
	Env     []string
	Dir     string
}

// Where the parts of a guest's root are before it has one.
const (
	guestFile = "guest.json"
	lower     = "lower"
	upper     = "upper"
	root      = "root"
)

// rootTag names the machine's files to 9p.
const rootTag = "root"

// The names of the guest's ports (virtio 1.2, 5.3): its command's input and output, and how
// it ended.
const (
	stdioPort  = "stdio"
	statusPort = "status"
)

// Init is the first process of a guest: it makes the machine's files its root, under
// memory, runs the command and powers the guest off. It returns only in a process that
// is not the first.
func Init() error {
	if os.Getpid() != 1 {
		return fmt.Errorf("begin a guest: process %d is not the first of a machine; tare itself starts this", os.Getpid())
	}
	status, err := runGuest()
	if err == nil {
		err = report(status)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "\n%s%v\n", guestFailed, err)
	}
	unix.Sync()
	return unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF)
}

// guestFailed begins the line of the console that says why a guest could not do its work.
const guestFailed = "tare: the guest failed: "

func runGuest() (status int, err error) {
	text, err := os.ReadFile("/" + guestFile)
	if err != nil {
		return 0, fmt.Errorf("read what to do: %w", err)
	}
	var g guest
	if err := json.Unmarshal(text, &g); err != nil {
		return 0, fmt.Errorf("read what to do: %w", err)
	}
	for _, step := range []func() error{
		func() error { return mountAll("", first) }, insertModules, mountRoot, func() error { return enterRoot(g) },
		func() error { return mountAll("", rest) }, linkStandardFiles, bringUpLoopback,
	} {
		if err := step(); err != nil {
			return 0, err
		}
	}
	return g.run()
}

// mounting is a file system of a guest.
type mounting struct {
	kind, on, data string
	may            bool // be absent from a kernel
}

// first are those that the way to the root needs.
var first = []mounting{
	{kind: "devtmpfs", on: "/dev"},
	{kind: "proc", on: "/proc"},
	{kind: "sysfs", on: "/sys"},
}

// rest are those of a machine that runs.
var rest = append(slices.Clone(first),
	mounting{kind: "devpts", on: "/dev/pts", data: "gid=5,mode=620,ptmxmode=666"},
	mounting{kind: "tmpfs", on: "/dev/shm"},
	mounting{kind: "tmpfs", on: "/run", data: "mode=755"},
	mounting{kind: "cgroup2", on: "/sys/fs/cgroup"},
	mounting{kind: "bpf", on: "/sys/fs/bpf", may: true},
	mounting{kind: "debugfs", on: "/sys/kernel/debug", may: true},
	mounting{kind: "tracefs", on: "/sys/kernel/tracing", may: true},
	mounting{kind: "securityfs", on: "/sys/kernel/security", may: true},
)

func mountAll(below string, all []mounting) error {
	for _, m := range all {
		err := os.MkdirAll(below+m.on, 0o755)
		if err == nil {
			err = unix.Mount(m.kind, below+m.on, m.kind, 0, m.data)
		}
		if err != nil && !m.may {
			return fmt.Errorf("mount %s on %s: %w", m.kind, m.on, err)
		}
	}
	return nil
}

// insertModules inserts those of the initramfs, in their order.
func insertModules() error {
	files, err := filepath.Glob("/modules/*")
	if err != nil {
		return fmt.Errorf("list modules: %w", err)
	}
	for _, name := range files {
		if err := insertModule(name); err != nil {
			return fmt.Errorf("insert module %s: %w", filepath.Base(name), err)
		}
	}
	return nil
}

func insertModule(name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	flags := 0
	if !strings.HasSuffix(name, ".ko") {
		flags = unix.MODULE_INIT_COMPRESSED_FILE // Linux 5.17
	}
	return unix.FinitModule(int(file.Fd()), "", flags)
}

// mountRoot puts memory over the machine's files, which are read-only.
func mountRoot() error {
	if err := unix.Mount(rootTag, "/"+lower, "9p", unix.MS_RDONLY, "trans=virtio,version=9p2000.L,msize=512000,cache=loose"); err != nil {
		return fmt.Errorf("mount the machine's files: %w", err)
	}
	if err := unix.Mount("tmpfs", "/"+upper, "tmpfs", 0, "size=75%"); err != nil {
		return fmt.Errorf("mount memory: %w", err)
	}
	changes, work := "/"+upper+"/changes", "/"+upper+"/work"
	for _, folder := range []string{changes, work} {
		if err := os.Mkdir(folder, 0o755); err != nil {
			return fmt.Errorf("make a folder in memory: %w", err)
		}
	}
	data := "lowerdir=/" + lower + ",upperdir=" + changes + ",workdir=" + work
	if err := unix.Mount("overlay", "/"+root, "overlay", 0, data); err != nil {
		return fmt.Errorf("mount memory over the machine's files: %w", err)
	}
	return nil
}

// enterRoot makes the overlay the root, with the kernel's own modules where modprobe
// looks for them.
func enterRoot(g guest) error {
	if err := unix.Chdir("/" + root); err != nil {
		return fmt.Errorf("enter the root: %w", err)
	}
	if err := unix.Mount(".", "/", "", unix.MS_MOVE, ""); err != nil {
		return fmt.Errorf("move the root: %w", err)
	}
	if err := errors.Join(unix.Chroot("."), unix.Chdir("/")); err != nil {
		return fmt.Errorf("enter the root: %w", err)
	}
	folder := filepath.Join("/lib/modules", g.Release)
	if folder == g.Modules {
		return nil
	}
	err := os.MkdirAll(folder, 0o755)
	if err == nil {
		err = unix.Mount(g.Modules, folder, "", unix.MS_BIND, "")
	}
	if err != nil {
		return fmt.Errorf("provide the kernel's modules: %w", err)
	}
	return nil
}

// linkStandardFiles makes the names in /dev that a shell expects.
func linkStandardFiles() error {
	for name, to := range map[string]string{"fd": "", "stdin": "/0", "stdout": "/1", "stderr": "/2"} {
		if err := os.Symlink("/proc/self/fd"+to, "/dev/"+name); err != nil && !errors.Is(err, os.ErrExist) {
			return fmt.Errorf("link /dev/%s: %w", name, err)
		}
	}
	return nil
}

// bringUpLoopback does what a machine's start does, and gives it a name.
func bringUpLoopback() error {
	if err := unix.Sethostname([]byte("guest")); err != nil {
		return fmt.Errorf("name the guest: %w", err)
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("bring up the loopback: %w", err)
	}
	request, err := unix.NewIfreq("lo")
	if err == nil {
		request.SetUint16(unix.IFF_UP)
		err = unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, request)
	}
	if err := errors.Join(err, unix.Close(fd)); err != nil {
		return fmt.Errorf("bring up the loopback: %w", err)
	}
	return nil
}

// run runs the guest's command to its end. It reaps every process that loses its
// parent, as the first process of a machine has to.
func (g guest) run() (status int, err error) {
	stdio, err := openPort(stdioPort)
	if err != nil {
		return 0, err
	}
	const path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	if err := os.Setenv("PATH", path); err != nil { // where LookPath looks
		return 0, fmt.Errorf("set PATH: %w", err)
	}
	env := append([]string{"PATH=" + path, "HOME=/root", "TERM=dumb"}, g.Env...)
	program, err := exec.LookPath(g.Command[0])
	if err != nil {
		return 0, fmt.Errorf("find the guest's command: %w", err)
	}
	process, err := os.StartProcess(program, g.Command, &os.ProcAttr{
		Dir: g.Dir, Env: env, Files: []*os.File{stdio, stdio, stdio}, Sys: &unix.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return 0, fmt.Errorf("start the guest's command: %w", err)
	}
	for {
		var ended unix.WaitStatus
		pid, err := unix.Wait4(-1, &ended, 0, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return 0, fmt.Errorf("wait for the guest's command: %w", err)
		case pid != process.Pid:
		case ended.Signaled():
			return 128 + int(ended.Signal()), nil // as a shell has it
		default:
			return ended.ExitStatus(), nil
		}
	}
}

// report sends how the command ended.
func report(status int) error {
	port, err := openPort(statusPort)
	if err != nil {
		return err
	}
	if _, err := port.WriteString(strconv.Itoa(status) + "\n"); err != nil {
		return fmt.Errorf("report how the command ended: %w", err)
	}
	return nil
}

// openPort opens a port by its name.
func openPort(name string) (*os.File, error) {
	named, err := filepath.Glob("/sys/class/virtio-ports/*/name")
	if err != nil {
		return nil, fmt.Errorf("list ports: %w", err)
	}
	for _, file := range named {
		if text, err := os.ReadFile(file); err == nil && strings.TrimSpace(string(text)) == name {
			port, err := os.OpenFile(filepath.Join("/dev", filepath.Base(filepath.Dir(file))), os.O_RDWR, 0)
			if err != nil {
				return nil, fmt.Errorf("open port %s: %w", name, err)
			}
			return port, nil
		}
	}
	return nil, fmt.Errorf("open port %s: the machine has none", name)
}
