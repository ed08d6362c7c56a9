package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"tare/catalog"
	"tare/experiment"
	"tare/experiment/kernels"
	"tare/probe"
	"tare/result"
	"tare/vm"
)

// runningKernel is the name of the kernel that runs.
const runningKernel = "host"

// machineMiB is the memory of each virtual machine.
const machineMiB = 2048

// checkKernels refuses what does not go with kernels, and kernels that only a file names.
func (f *runFlags) checkKernels(flags *pflag.FlagSet, plan result.Plan, args []string) error {
	switch given := flags.Changed("kernel"); {
	case given && len(plan.Kernels) == 0:
		return wrong("--kernel is empty: write a comma list of files, or host")
	case len(plan.Kernels) == 0:
		return nil
	case !given:
		all := strings.Join(plan.Kernels, ",")
		return wrong("%s: it boots the kernels %s, which a file alone can't choose: if you trust it, add --kernel %s", args[0], all, all)
	}
	if len(plan.By) > 0 {
		return wrong("--kernel and --by %s: kernels are compared with each other alone: leave one of them out", plan.By[0])
	}
	if len(plan.Kernels) < 2 {
		return wrong("--kernel %s: one kernel is compared with nothing: name two, for example --kernel %s,/boot/vmlinuz-OTHER", plan.Kernels[0], runningKernel)
	}
	return nil
}

// runKernels measures the plan on each of its kernels, and reports.
func runKernels(ctx context.Context, s streams, f runFlags, plan result.Plan) error {
	opened, err := openKernels(plan.Kernels)
	if err != nil {
		return err
	}
	machine, err := firstMachine(ctx, opened)
	if err != nil {
		return err
	}
	plan = turnsOf(plan)
	if err := aim(&machine, plan); err != nil {
		return err
	}
	images := slices.Concat(plan.Kernels[:1], plan.Kernels)
	var machines []kernels.Machine
	for n, kernel := range slices.Concat(opened[:1], opened) {
		machine.Kernel = kernel
		machines = append(machines, kernels.Machine{Image: images[n], Release: kernel.Release, Accelerator: machine.By.Name(), Boot: machine.Run})
	}
	return f.deliver(s, experiment.SizeOf(plan)*int64(len(machines)), func(save func(*result.Result) error) (*result.Result, error) {
		progress := newProgress(s)
		defer progress.end()
		progress.print(fmt.Sprintf("booting %d virtual machines (%s), and a lab in each", len(machines), machine.By.Name()))
		res, err := kernels.Run(ctx, plan, kernels.Options{Machines: machines, Tool: tool(), Progress: progress.show})
		if res == nil {
			return nil, err
		}
		return res, errors.Join(err, save(res))
	})
}

// firstMachine is a virtual machine of the first kernel, without a command. It is checked
// that those of all kernels, and the twin, have room.
func firstMachine(ctx context.Context, opened []vm.Kernel) (vm.Machine, error) {
	machine := vm.Machine{Kernel: opened[0], CPUs: runtime.NumCPU(), MemoryMiB: machineMiB, Pinned: true}
	if err := vm.Installed(); err != nil {
		return machine, &exitError{exitMissing, err}
	}
	if need, left := (1+len(opened))*machineMiB, probe.AvailableMiB("/"); left >= 0 && left < need {
		return machine, &exitError{exitMissing, fmt.Errorf("boot %d virtual machines: they take %d MiB of memory, and this machine has %d: end what takes it, or name fewer kernels", 1+len(opened), need, left)}
	}
	self, err := os.Executable()
	if err != nil {
		return machine, fmt.Errorf("find this program: %w", err)
	}
	if err := vm.CheckProgram(self); err != nil {
		return machine, &exitError{exitMissing, fmt.Errorf("run this tare in a virtual machine: %w, and call dist/tare", err)}
	}
	machine.Init = self
	machine.By = machine.Choose(ctx)
	return machine, nil
}

// turnsOf is a plan for machines that take turns: the blocks of all are the same.
func turnsOf(plan result.Plan) result.Plan {
	if plan.Seed == 0 {
		plan.Seed = uint64(time.Now().UnixNano())
	}
	plan.Looks = false
	return plan
}

// openKernels opens kernels of different releases.
func openKernels(images []string) ([]vm.Kernel, error) {
	var opened []vm.Kernel
	for n, image := range images {
		kernel, err := openKernel(image)
		if err != nil {
			return nil, err
		}
		if at := slices.IndexFunc(opened, func(k vm.Kernel) bool { return k.Release == kernel.Release }); at >= 0 {
			return nil, wrong("--kernel: %s and %s are both %s: name kernels of different releases", images[at], images[n], kernel.Release)
		}
		opened = append(opened, kernel)
	}
	return opened, nil
}

// openKernel opens the kernel of a file, or the running one.
func openKernel(image string) (vm.Kernel, error) {
	if image != runningKernel {
		kernel, err := vm.OpenKernel(image)
		if err != nil {
			return kernel, &exitError{exitWrong, err}
		}
		return kernel, nil
	}
	release := probe.Environment("/").Kernel
	kernel, err := vm.OpenKernel(filepath.Join("/boot", "vmlinuz-"+release))
	if err != nil {
		return kernel, &exitError{exitMissing, fmt.Errorf("find the running kernel: %w, or name files alone", err)}
	}
	return kernel, nil
}

// aim has a machine run this program, with the plan in a file there.
func aim(machine *vm.Machine, plan result.Plan) error {
	plan.Kernels, plan.MaxTime = nil, 0 // the turns end it
	text, err := plan.EncodeYAML()
	if err != nil {
		return err
	}
	const file = "/tmp/plan.yaml"
	machine.Env = []string{"TARE_PLAN=" + string(text)}
	machine.Command = []string{
		"sh", "-c", `printf %s "$TARE_PLAN" >` + file + ` && exec "$@"`, "sh",
		machine.Init, "run", file, "--json", "--load-modules", "--turns",
	}
	for _, p := range catalog.Params() {
		for _, n := range plan.Networks {
			if value := n.Params.Map()[p.Name]; p.Typed && value != "" { // it was typed here
				machine.Command = append(machine.Command, "--"+flagName(p.Name), value)
			}
		}
	}
	return nil
}

// turn is how a run takes its turns: nil, unless it is one of several machines.
func (f runFlags) turn(s streams) func(context.Context, int) (bool, error) {
	if !f.turns {
		return nil
	}
	return kernels.Taker(s.in, s.out)
}

// progressTo is where a run's progress is shown. A machine says only what it has to.
func (f runFlags) progressTo(s streams) streams {
	if f.turns {
		s.err = io.Discard
	}
	return s
}
