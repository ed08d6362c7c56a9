// Package trace follows packets through the kernel: the toll of each hop of
// their way, where and why packets were lost, and what the CPUs executed
// meanwhile.
//
// It attaches BPF programs to tracepoints that the kernel types by BTF, and
// never to functions of the kernel, so that it works where probes are refused.
// What is attached is held by file descriptors alone and is removed with the
// process, however that ends. The programs add up in the kernel: no packet is copied.
package trace

import (
	"bytes"
	_ "embed" // the compiled programs
	"errors"
	"fmt"
	"os"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/link"
)

// The programs, compiled by bpf/build.
var (
	//go:embed bpf/path.bpf.o
	pathObject []byte
	//go:embed bpf/cpu.bpf.o
	cpuObject []byte
)

// Tier is how much a tracer can see.
type Tier int

// The tiers. Each sees what those below it see.
const (
	Counters Tier = 0 // nothing but the kernel's own counters: any kernel, any user
	Packets  Tier = 1 // hops and losses: root, BTF, and the tracepoints of Linux 6.3
	Stacks   Tier = 2 // where the CPUs are: perf events with BPF
)

// Network is a network namespace in which packets are followed.
type Network struct {
	Inode   uint32 // of the namespace
	At      string // what people call it: "h1/c1"
	Devices map[uint32]Device
}

// Device is a device of a namespace.
type Device struct {
	Name, Kind string // as in ip link
	Master     string // the bridge or switch that it is a port of; empty: none
	MasterKind string
}

// Ability is what a tracer can see.
type Ability struct {
	Tier  Tier     `json:"tier"`
	Lacks []string `json:"lacks"` // why it is not a higher tier, and what to do about it
}

// Tracer holds the programs. They are attached during a pass only.
type Tracer struct {
	Ability

	networks  map[uint32]Network // of the pass
	path, cpu *ebpf.Collection
	reasons   map[uint32]string
	symbols   symbols
}

// Open loads the programs that this machine accepts. Each one that it refuses
// lowers the tier and is listed in Lacks.
func Open() (*Tracer, error) {
	t := &Tracer{}
	var err error
	if t.path, err = load(pathObject); err != nil {
		t.Lacks = append(t.Lacks, "hops and losses: "+lack(err))
		return t, nil
	}
	t.Tier = Packets
	if t.reasons, err = dropReasons(); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	if t.symbols, err = readSymbols("/proc/kallsyms"); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	if t.cpu, err = load(cpuObject); err == nil {
		err = t.tryClock()
	}
	if err != nil {
		t.Lacks = append(t.Lacks, "CPU by layer: "+lack(err))
		return t, nil
	}
	t.Tier = Stacks
	return t, nil
}

// Refused is why no packet can be followed on this machine, and what to do; empty: packets can be followed.
func Refused() string {
	c, err := load(pathObject)
	if err != nil {
		return lack(err)
	}
	c.Close()
	return ""
}

// Close unloads the programs.
func (t *Tracer) Close() error {
	for _, c := range []*ebpf.Collection{t.path, t.cpu} {
		if c != nil {
			c.Close()
		}
	}
	return nil
}

// load loads one object.
func load(object []byte) (*ebpf.Collection, error) {
	spec, err := ebpf.LoadCollectionSpecFromReader(bytes.NewReader(object))
	if err != nil {
		return nil, fmt.Errorf("read programs: %w", err)
	}
	c, err := ebpf.NewCollection(spec)
	if err != nil {
		return nil, fmt.Errorf("load programs: %w", err)
	}
	return c, nil
}

// lack is what is missing for programs to load, and what to do.
func lack(err error) string {
	var refused *ebpf.VerifierError
	switch {
	case errors.As(err, &refused):
		return fmt.Sprintf("%v: this kernel does not take tare's programs; report it with the output of uname -r", err)
	case errors.Is(err, os.ErrPermission) && os.Geteuid() != 0:
		return "only root may load BPF programs: run it as root"
	case errors.Is(err, os.ErrPermission):
		return fmt.Sprintf("%v: run it as the machine's own root, with CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN", err)
	case errors.Is(err, btf.ErrNotFound), errors.Is(err, ebpf.ErrNotSupported) && hasBTF():
		return fmt.Sprintf("%v: it takes the tracepoints of Linux 6.3", err)
	case errors.Is(err, os.ErrNotExist), errors.Is(err, btf.ErrNotSupported):
		return fmt.Sprintf("%v: it takes a kernel with BTF (CONFIG_DEBUG_INFO_BTF)", err)
	}
	return fmt.Sprintf("%v: it takes Linux 6.3 with BTF", err)
}

// hasBTF reports whether the kernel describes its types, so that what else is missing is
// something of it.
func hasBTF() bool {
	_, err := btf.LoadKernelSpec()
	return err == nil
}

// within lets the programs of a collection look at these namespaces alone.
func (t *Tracer) within(c *ebpf.Collection, networks []Network) error {
	t.networks = map[uint32]Network{}
	err := empty(c.Maps["networks"])
	for _, n := range networks {
		t.networks[n.Inode] = n
		err = errors.Join(err, c.Maps["networks"].Put(n.Inode, uint8(1)))
	}
	if err != nil {
		return fmt.Errorf("name namespaces to programs: %w", err)
	}
	return nil
}

// during switches a collection on for as long as run takes.
func during(c *ebpf.Collection, run func() error) error {
	on := c.Variables["on"]
	if err := on.Set(uint32(1)); err != nil {
		return fmt.Errorf("switch tracing on: %w", err)
	}
	err := run()
	if off := on.Set(uint32(0)); off != nil {
		err = errors.Join(err, fmt.Errorf("switch tracing off: %w", off))
	}
	return err
}

// attachAll attaches every program of a collection to its tracepoint.
func attachAll(c *ebpf.Collection) (detach func() error, err error) {
	var links []link.Link
	detach = func() error {
		var errs []error
		for _, l := range links {
			errs = append(errs, l.Close())
		}
		return errors.Join(errs...)
	}
	for name, program := range c.Programs {
		l, err := link.AttachTracing(link.TracingOptions{Program: program})
		if err != nil {
			return nil, errors.Join(fmt.Errorf("attach %s to its tracepoint: %w", name, err), detach())
		}
		links = append(links, l)
	}
	return detach, nil
}
