package probe

import "strings"

// virtualisation names the hypervisor below this machine, or "none". On x86
// the CPU itself reports whether there is one, and DMI gives its name; elsewhere
// there is only DMI.
func virtualisation(root string, info cpuInfo) string {
	if kind := line(root, "sys/hypervisor/type"); kind != unknown {
		return kind
	}
	if info.flags && !info.hypervisor {
		return "none"
	}
	vendor := line(root, "sys/class/dmi/id/sys_vendor")
	name := dmiName(vendor, line(root, "sys/class/dmi/id/product_name"))
	switch {
	case name != "":
		return name
	case vendor != unknown && !info.flags:
		return "none" // a maker of machines
	case vendor != unknown:
		return vendor
	case info.flags:
		return "unknown hypervisor" // as under a microVM without DMI
	}
	return unknown
}

// dmiName names the hypervisor that calls itself so in DMI; "" if none does.
func dmiName(vendor, product string) string {
	if strings.Contains(product, ".metal") { // a cloud's bare machine
		return ""
	}
	for _, known := range []struct{ vendor, product, name string }{
		{"QEMU", "", "qemu"},
		{"Red Hat", "KVM", "kvm"},
		{"VMware", "", "vmware"},
		{"Xen", "", "xen"},
		{"innotek GmbH", "VirtualBox", "virtualbox"},
		{"Parallels", "", "parallels"},
		{"Microsoft Corporation", "Virtual Machine", "hyper-v"}, // Surface laptops have the vendor too
		{"Apple Inc.", "Virtual", "apple"},                      // so do Macs
		{"Amazon EC2", "", "amazon"},
		{"Google", "Google Compute Engine", "google"},
		{"Hetzner", "vServer", "hetzner"},
	} {
		if strings.HasPrefix(vendor, known.vendor) && strings.Contains(product, known.product) {
			return known.name
		}
	}
	return ""
}
