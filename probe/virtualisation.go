package probe

import (
	"slices"
	"strings"
)

// virtualisation names the hypervisor below this machine, or "none". On x86
// the CPU itself reports whether there is one, and DMI gives its name; elsewhere
// there is only DMI, or a device tree.
func virtualisation(root string, info cpuInfo) string {
	if kind := line(root, "sys/hypervisor/type"); kind != unknown {
		return kind
	}
	if info.flags && !info.hypervisor {
		return "none"
	}
	vendor := line(root, "sys/class/dmi/id/sys_vendor")
	product := line(root, "sys/class/dmi/id/product_name")
	name := dmiName(vendor, product)
	switch {
	case name != "":
		return name
	case vendor != unknown && !info.flags && !lets(vendor+" "+product):
		return "none" // a maker of machines
	case vendor != unknown:
		return vendor
	case info.flags:
		return "unknown hypervisor" // as under a microVM without DMI
	}
	return ofDeviceTree(root)
}

// lets reports whether who calls itself so in DMI lets guests, and makes no machines.
func lets(name string) bool {
	return slices.ContainsFunc([]string{"Cloud", "OpenStack", "DigitalOcean", "KubeVirt", "AHV"}, func(word string) bool { return strings.Contains(name, word) })
}

// ofDeviceTree names the hypervisor of a machine whose firmware describes it by a device tree
// alone: guests of QEMU's and Firecracker's "virt" are called linux,dummy-virt, and Xen has a node
// (Documentation/devicetree/bindings/arm/xen.txt).
func ofDeviceTree(root string) string {
	const tree = "sys/firmware/devicetree/base/"
	switch compatible := line(root, tree+"compatible"); {
	case strings.Contains(line(root, tree+"hypervisor/compatible"), "xen"):
		return "xen"
	case strings.Contains(compatible, "dummy-virt"):
		return "unknown hypervisor"
	case compatible != unknown:
		return "none"
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
