// Package vm boots a kernel in a virtual machine by QEMU. The guest sees the files of
// the machine, read-only under memory; it runs one command and ends. So what is
// installed here can be tried on a kernel that is not the running one.
package vm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Program is QEMU's, of Debian's package qemu-system-x86.
const Program = "qemu-system-x86_64"

// Accelerator is what runs a guest's instructions.
type Accelerator string

// The accelerators: KVM by the CPU itself, TCG by translation. What is measured under TCG
// is no machine's time. All CPUs of its guest take turns on one thread: with a thread each,
// QEMU 7.2 runs code that another CPU of the guest has just changed, and Linux 6.12 panics
// where it switches tracepoints.
const (
	KVM Accelerator = "kvm"
	TCG Accelerator = "tcg,thread=single"
)

// Name is the accelerator without how it is set up: "kvm", "tcg".
func (a Accelerator) Name() string {
	name, _, _ := strings.Cut(string(a), ",")
	return name
}

// Machine is a guest and its command.
type Machine struct {
	Kernel    Kernel
	By        Accelerator
	Init      string // a static program that calls Init when it is called with InitVerb
	CPUs      int
	MemoryMiB int
	Command   []string
	Env       []string // besides PATH, HOME and TERM
	Dir       string   // where the command runs; "": /
	Pinned    bool     // each CPU of the guest stays on the CPU of this machine that has its number
}

// bootModules are what a guest needs to reach its root and its ports.
var bootModules = []string{"virtio_pci", "virtio_console", "9pnet_virtio", "9p", "overlay"}

// Installed reports whether QEMU is here: an error that says what to install.
func Installed() error {
	if _, err := exec.LookPath(Program); err != nil {
		return fmt.Errorf("find QEMU: %w; install it (Debian: apt-get install --no-install-recommends qemu-system-x86)", err)
	}
	return nil
}

// Run boots the machine, runs its command, and returns the command's exit status. in is the
// command's input, whose end does not reach it; nil: it has none. out gets its output and its
// error output. The guest ends with ctx, and with this process.
func (m Machine) Run(ctx context.Context, in io.Reader, out io.Writer) (status int, err error) {
	if err := Installed(); err != nil {
		return 0, fmt.Errorf("boot kernel %s: %w", m.Kernel.Release, err)
	}
	modules, err := m.Kernel.modules(bootModules...)
	if err != nil {
		return 0, err
	}
	if err := CheckProgram(m.Init); err != nil {
		return 0, fmt.Errorf("boot kernel %s: run %s first: %w", m.Kernel.Release, m.Init, err)
	}
	image, err := initramfs(m.Init, guest{m.Kernel.Release, m.Kernel.Modules, m.Command, m.Env, m.Dir}, modules)
	if err != nil {
		return 0, err
	}
	f, err := openFiles(image)
	if err != nil {
		return 0, fmt.Errorf("boot kernel %s: %w", m.Kernel.Release, err)
	}
	defer func() { err = errors.Join(err, f.close()) }()
	if err := m.boot(ctx, f, in, out); err != nil {
		return 0, fmt.Errorf("boot kernel %s: %w", m.Kernel.Release, errors.Join(ctx.Err(), err))
	}
	return m.ended(f)
}

// boot runs QEMU to its end.
func (m Machine) boot(ctx context.Context, f files, in io.Reader, out io.Writer) error {
	runtime.LockOSThread() // a process ends with the thread that started it (PR_SET_PDEATHSIG)
	defer runtime.UnlockOSThread()
	var complaint strings.Builder
	qemu := exec.CommandContext(ctx, Program, m.arguments()...)
	qemu.ExtraFiles = f.inherited()
	qemu.Stdout, qemu.Stderr = out, &complaint
	qemu.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	qemu.WaitDelay = time.Second
	// An input that never ends: at its end QEMU would close the output's port too.
	typed, err := qemu.StdinPipe()
	if err == nil {
		err = qemu.Start()
	}
	if err != nil {
		return fmt.Errorf("run %s: %w", Program, err)
	}
	if in != nil {
		go io.Copy(typed, in) //nolint:errcheck // it ends with QEMU, whose own error says why
	}
	running, ended := context.WithCancel(ctx)
	pinned := make(chan error, 1)
	go func() { pinned <- m.pin(running, qemu.Process.Pid) }()
	err = qemu.Wait()
	ended()
	if err != nil {
		return fmt.Errorf("run %s: %w: %s", Program, err, strings.TrimSpace(complaint.String()))
	}
	return <-pinned
}

func (m Machine) arguments() []string {
	// What costs nothing on a CPU costs a translated guest most of its time: a clock that
	// is read by I/O, which the kernel takes where it does not trust the CPU's, page
	// tables of five levels, what mends a real CPU's weaknesses, bytes that are copied one by
	// one since a CPU has rep movsb for them, and guards on each access to a user's memory.
	cpu, boot := "max,la57=off,-erms,-smap,-smep,-pku,-umip", " tsc=reliable clocksource=tsc mitigations=off"
	if m.By == KVM {
		cpu, boot = "host", ""
	}
	return []string{
		"-name", "tare,debug-threads=on", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-accel", string(m.By), "-cpu", cpu,
		"-smp", strconv.Itoa(m.CPUs), "-m", strconv.Itoa(m.MemoryMiB),
		"-kernel", m.Kernel.Image, "-initrd", initramfsPath,
		"-append", "console=ttyS0 quiet panic=-1 rdinit=/init" + boot + " -- " + InitVerb,
		"-serial", "file:" + consolePath,
		"-fsdev", "local,id=root,path=/,security_model=none,readonly=on,multidevs=remap",
		"-device", "virtio-9p-pci,fsdev=root,mount_tag=" + rootTag,
		"-device", "virtio-serial-pci",
		"-chardev", "stdio,id=io,signal=off", "-device", "virtserialport,chardev=io,name=" + stdioPort,
		"-chardev", "file,id=status,path=" + statusPath, "-device", "virtserialport,chardev=status,name=" + statusPort,
	}
}

// ended reads how the command ended.
func (m Machine) ended(f files) (int, error) {
	reported, err := text(f.status)
	if err != nil {
		return 0, err
	}
	if status, err := strconv.Atoi(strings.TrimSpace(reported)); err == nil {
		return status, nil
	}
	printed, err := text(f.console)
	if err != nil {
		return 0, err
	}
	_, why, found := strings.Cut(printed, guestFailed)
	if found {
		why, _, _ = strings.Cut(why, "\n")
		return 0, fmt.Errorf("run %s on kernel %s: %s", strings.Join(m.Command, " "), m.Kernel.Release, strings.TrimSpace(why))
	}
	const most = 2000
	last := printed[max(0, len(printed)-most):]
	return 0, fmt.Errorf("run %s on kernel %s: the guest ended before its command did; its console ended with:\n%s", strings.Join(m.Command, " "), m.Kernel.Release, last)
}

// trial is how long a guest by KVM has to boot. Where KVM is offered and does not work, as
// in some virtual machines, a guest hangs.
const trial = 5 * time.Second

// Choose is KVM where a guest boots by it within 5 s, and else TCG. It boots one, if
// /dev/kvm is there.
func (m Machine) Choose(ctx context.Context) Accelerator {
	device, err := os.OpenFile("/dev/kvm", os.O_RDWR, 0)
	if err != nil {
		return TCG
	}
	device.Close()
	ctx, cancel := context.WithTimeout(ctx, trial)
	defer cancel()
	m.By, m.Command = KVM, []string{"true"}
	if status, err := m.Run(ctx, nil, io.Discard); err != nil || status != 0 {
		return TCG
	}
	return KVM
}
