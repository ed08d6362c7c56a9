package udp

import (
	"errors"
	"io"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"
)

// objects are the BPF objects of one user. They end with it, and with its process.
type objects []io.Closer

// share makes memory that a program shares with this process: a map of one value.
func (o *objects) share(name string, bytes int) (*ebpf.Map, error) {
	return o.made(ebpf.NewMap(&ebpf.MapSpec{
		Name: name, Type: ebpf.Array, KeySize: 4, ValueSize: uint32(bytes), MaxEntries: 1, Flags: unix.BPF_F_MMAPABLE,
	}))
}

func (o *objects) made(m *ebpf.Map, err error) (*ebpf.Map, error) {
	if err == nil {
		*o = append(*o, m)
	}
	return m, err
}

func (o *objects) program(name string, kind ebpf.ProgramType, code asm.Instructions) (*ebpf.Program, error) {
	p, err := ebpf.NewProgram(&ebpf.ProgramSpec{Name: name, Type: kind, Instructions: code, License: "Dual BSD/GPL"})
	if err == nil {
		*o = append(*o, p)
	}
	return p, err
}

func (o objects) close() error {
	var errs []error
	for _, one := range o {
		errs = append(errs, one.Close())
	}
	return errors.Join(errs...)
}
