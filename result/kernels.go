package result

// Kernels is a plan on several kernels, each in a virtual machine. The cells of each are the
// result's, with the kernel's release as an axis, and its comparisons are along that axis.
type Kernels struct {
	Machines []KernelMachine `json:"machines"` // that of the first kernel, its twin, and those of the others
	Twin     []Cell          `json:"twin"`     // the cells of a second machine with the first kernel
}

// KernelMachine is a virtual machine.
type KernelMachine struct {
	Image       string      `json:"image"`            // of the kernel, as the plan has it
	Release     string      `json:"release"`          // as uname -r prints it
	Accelerator string      `json:"accelerator"`      // "kvm", or "tcg": emulated
	Environment Environment `json:"environment"`      // as the run in it found it
	Reason      string      `json:"reason,omitempty"` // why it has not measured all
}
