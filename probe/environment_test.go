package probe

import (
	"math"
	"reflect"
	"testing"

	"golang.org/x/sys/unix"

	"tare/result"
)

const (
	x86Guest = "processor\t: 0\nmodel name\t: Xeon\nflags\t\t: fpu hypervisor sse\n\nprocessor\t: 1\n"
	x86Metal = "processor\t: 0\nmodel name\t: Xeon\nflags\t\t: fpu sse\n\n"
	arm64    = "processor\t: 0\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\n\n"

	cpuinfo = "proc/cpuinfo"
	vendor  = "sys/class/dmi/id/sys_vendor"
	product = "sys/class/dmi/id/product_name"
)

func TestEnvironment(t *testing.T) {
	want := result.Environment{
		Kernel:         "6.18.44",
		CPUModel:       "Intel(R) Xeon(R) Processor",
		CPUs:           2,
		Virtualisation: "unknown hypervisor",
		Clocksource:    "tsc",
		MemoryBytes:    24684092 * 1024,
	}
	if got := Environment(vm); !reflect.DeepEqual(got, want) {
		t.Errorf("captured: %+v, want %+v", got, want)
	}
	nothing := result.Environment{
		Kernel: "unknown", CPUModel: "unknown", Virtualisation: "unknown", Clocksource: "unknown",
	}
	if got := Environment(t.TempDir()); !reflect.DeepEqual(got, nothing) {
		t.Errorf("an empty root: %+v", got)
	}
}

func TestEnvironmentOfThisMachine(t *testing.T) {
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		t.Fatal(err)
	}
	got := Environment("/")
	if want := unix.ByteSliceToString(name.Release[:]); got.Kernel != want {
		t.Errorf("kernel %q, want %q", got.Kernel, want)
	}
	reader, err := OpenCPU("/")
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	var c CPU
	if err := reader.Read(&c); err != nil {
		t.Fatal(err)
	}
	online := 0
	for _, times := range c.Each {
		if times.Total > 0 {
			online++
		}
	}
	if got.CPUs != online || got.MemoryBytes == 0 {
		t.Errorf("%d CPUs and %d bytes, but %d CPUs in /proc/stat", got.CPUs, got.MemoryBytes, online)
	}
}

func TestVirtualisation(t *testing.T) {
	for _, test := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"bare x86", map[string]string{cpuinfo: x86Metal, vendor: "Dell Inc.\n"}, "none"},
		{"bare x86 of a cloud", map[string]string{cpuinfo: x86Metal, vendor: "Amazon EC2\n", product: "m5.metal\n"}, "none"},
		{"x86 in a microVM", map[string]string{cpuinfo: x86Guest}, "unknown hypervisor"},
		{"x86 in QEMU", map[string]string{cpuinfo: x86Guest, vendor: "QEMU\n", product: "Standard PC\n"}, "qemu"},
		{"x86 in a vendor's", map[string]string{cpuinfo: x86Guest, vendor: "DigitalOcean\n", product: "Droplet\n"}, "DigitalOcean"},
		{"x86 in Hyper-V", map[string]string{cpuinfo: x86Guest, vendor: "Microsoft Corporation\n", product: "Virtual Machine\n"}, "hyper-v"},
		{"Xen", map[string]string{cpuinfo: x86Guest, "sys/hypervisor/type": "xen\n"}, "xen"},
		{"arm64 of EC2", map[string]string{cpuinfo: arm64, vendor: "Amazon EC2\n", product: "c7g.large\n"}, "amazon"},
		{"bare arm64 of EC2", map[string]string{cpuinfo: arm64, vendor: "Amazon EC2\n", product: "c7g.metal\n"}, "none"},
		{"arm64 laptop", map[string]string{cpuinfo: arm64, vendor: "Microsoft Corporation\n", product: "Surface Pro X\n"}, "none"},
		{"arm64 of a maker", map[string]string{cpuinfo: arm64, vendor: "HUAWEI\n", product: "TaiShan 200\n"}, "none"},
		{"arm64 of Alibaba", map[string]string{cpuinfo: arm64, vendor: "Alibaba Cloud\n", product: "Alibaba Cloud ECS\n"}, "Alibaba Cloud"},
		{"arm64 of an OpenStack", map[string]string{cpuinfo: arm64, vendor: "HUAWEI\n", product: "OpenStack Nova\n"}, "HUAWEI"},
		{"arm64 with a device tree", map[string]string{cpuinfo: arm64, "sys/firmware/devicetree/base/compatible": "raspberrypi,4-model-b\x00brcm,bcm2711\x00"}, "none"},
		{"arm64 in QEMU without DMI", map[string]string{cpuinfo: arm64, "sys/firmware/devicetree/base/compatible": "linux,dummy-virt\x00"}, "unknown hypervisor"},
		{"arm64 in Xen", map[string]string{cpuinfo: arm64, "sys/firmware/devicetree/base/compatible": "xen,xenvm\x00", "sys/firmware/devicetree/base/hypervisor/compatible": "xen,xen-4.17\x00xen,xen\x00"}, "xen"},
		{"arm64 without DMI", map[string]string{cpuinfo: arm64}, "unknown"},
	} {
		if got := Environment(tree(t, test.files)).Virtualisation; got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestCPUModel(t *testing.T) {
	for text, want := range map[string]string{
		x86Guest: "Xeon",
		arm64:    "Arm Neoverse-N1",
		"CPU implementer\t: 0x00\nCPU part\t: 0x051\n": "QEMU TCG CPU",
		"CPU implementer\t: 0x48\nCPU part\t: 0xd01\n": "HiSilicon TaiShan-v110 (Kunpeng 920)",
		"CPU implementer\t: 0x41\nCPU part\t: 0xfff\n": "implementer 0x41 part 0xfff",
		"CPU implementer\t: 0x41\n":                    "unknown",
		"processor\t: 0\ncpu\t: P9\n":                  "unknown",
	} {
		if got := parseCPUInfo([]byte(text)).name(); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestCountCPUs(t *testing.T) {
	for list, want := range map[string]int{
		"0\n": 1, "0-1\n": 2, "0-3,8,10-11\n": 7, "": 0, "\n": 0, "3-1\n": 0, "0,x\n": 0, "-1\n": 0, "0-\n": 0,
	} {
		if got := countCPUs([]byte(list)); got != want {
			t.Errorf("%q: %d, want %d", list, got, want)
		}
	}
}

func TestParseMemory(t *testing.T) {
	for text, want := range map[string]uint64{
		"MemTotal:       16 kB\nMemFree: 8 kB\n": 16384,
		"MemFree: 8 kB\n":                        0,
		"MemTotal: x kB\n":                       0,
		"MemTotal: 16 MB\n":                      0,
		"MemTotal: 18446744073709551615 kB\n":    0,
	} {
		if got := parseMemory([]byte(text))["MemTotal"]; got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

func FuzzParseCPUInfo(f *testing.F) {
	captured(f, "proc/cpuinfo")
	f.Add([]byte(arm64))
	f.Fuzz(func(t *testing.T, data []byte) {
		info := parseCPUInfo(data)
		if info.name() == "" || info.hypervisor && !info.flags {
			t.Fatalf("%+v", info)
		}
	})
}

func FuzzParseMemory(f *testing.F) {
	captured(f, "proc/meminfo")
	f.Fuzz(func(t *testing.T, data []byte) {
		for name, bytes := range parseMemory(data) {
			if bytes%1024 != 0 || bytes > math.MaxUint64-1023 {
				t.Fatalf("%s: %d bytes", name, bytes)
			}
		}
	})
}

func FuzzCountCPUs(f *testing.F) {
	captured(f, "sys/devices/system/cpu/online")
	f.Add([]byte("0-3,8"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if got := countCPUs(data); got < 0 || got > (1<<16)*(len(data)+1) {
			t.Fatalf("%d CPUs", got)
		}
	})
}
