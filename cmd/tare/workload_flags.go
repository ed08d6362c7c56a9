package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/pflag"

	"tare/result"
)

// workloadFlags are the parameters of a workload, the same for run and send. They
// change it only where they are given.
type workloadFlags struct {
	mode, rate, flows  string
	size, sizes, bytes string
	reverse, bidir     bool
}

func (f *workloadFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.flows, "flows", "", "concurrent connections (default: the workload's own, mostly 1)")
	flags.StringVar(&f.size, "size", "", "bytes of a message or datagram, for example 64 or 128K (default: the workload's own)")
	flags.StringVar(&f.sizes, "sizes", "", "message sizes of a sweep, for example 8:256K:*2 (default: the workload's own)")
	flags.StringVar(&f.rate, "rate", "", "rate to send at, for example 100mbit, 250kpps or 5000/s (default: the workload's own)")
	flags.StringVar(&f.bytes, "bytes", "", "end a run after this many bytes of payload, for example 100G")
	flags.BoolVar(&f.reverse, "reverse", false, "the serving end sends")
	flags.BoolVar(&f.bidir, "bidir", false, "both ends send")
	flags.StringVar(&f.mode, "mode", "", "how the engine sends (default: the workload's headline mode)")
}

func (f *workloadFlags) apply(flags *pflag.FlagSet, w *result.WorkloadPlan) (err error) {
	if flags.Changed("flows") {
		if w.Flows, err = strconv.Atoi(f.flows); err != nil || w.Flows < 1 {
			return fmt.Errorf("--flows %s: write a number of at least 1", f.flows)
		}
	}
	if flags.Changed("size") {
		if w.Size, err = result.ParseSize(f.size); err != nil {
			return fmt.Errorf("--size %s: %w", f.size, err)
		}
	}
	if flags.Changed("mode") {
		w.Mode = f.mode
	}
	if flags.Changed("sizes") {
		if w.Sizes = f.sizes; f.sizes == "" {
			return fmt.Errorf("--sizes is empty: write sizes, for example 8:256K:*2")
		}
	}
	if flags.Changed("rate") {
		if w.Rate, err = result.ParseRate(f.rate); err != nil {
			return fmt.Errorf("--rate: %w", err)
		}
	}
	if flags.Changed("bytes") {
		if w.Bytes, err = result.ParseBytes(f.bytes); err != nil {
			return fmt.Errorf("--bytes: %w", err)
		}
	}
	if flags.Changed("reverse") {
		w.Reverse = f.reverse
	}
	if flags.Changed("bidir") {
		w.Bidir = f.bidir
	}
	return nil
}
