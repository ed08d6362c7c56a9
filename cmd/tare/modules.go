package main

import (
	"context"

	"github.com/spf13/pflag"

	"tare/lab"
	"tare/network/kinds"
)

// modules is whether kernel modules may be loaded whose devices stay in the machine's own
// network.
type modules bool

func (m *modules) register(flags *pflag.FlagSet) {
	flags.BoolVar((*bool)(m), "load-modules", false, "load the networks' kernel modules, also those that add devices to the machine's own network (gre0, tunl0)")
}

// load loads the modules of networks, where it is allowed. What the kernel does not have is
// found out when a network is set up.
func (m modules) load(ctx context.Context, names []string) error {
	if !m {
		return nil
	}
	for _, name := range names {
		n, known := kinds.Find(name)
		if !known || n.Facts.Kernel == "" {
			continue
		}
		if err := lab.LoadModule(ctx, n.Facts.Kernel); err != nil {
			return &exitError{exitMissing, err}
		}
	}
	return nil
}
