package probe

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"tare/result"
)

// unknown is the value that no file has.
const unknown = "unknown"

// Environment describes the machine: all but Privilege and Parts, which the
// caller knows. What no file has, or has in a wrong form, is "unknown" or zero.
func Environment(root string) result.Environment {
	info := parseCPUInfo(contents(root, "proc/cpuinfo"))
	return result.Environment{
		Kernel:         line(root, "proc/sys/kernel/osrelease"),
		CPUModel:       info.name(),
		CPUs:           countCPUs(contents(root, "sys/devices/system/cpu/online")),
		Virtualisation: virtualisation(root, info),
		Clocksource:    line(root, "sys/devices/system/clocksource/clocksource0/current_clocksource"),
		MemoryBytes:    parseMemory(contents(root, "proc/meminfo"))["MemTotal"],
	}
}

// BootID names this boot of this machine: what has the same runs on it, and by
// its clock. It is empty where the kernel does not report it.
func BootID(root string) string {
	if id := line(root, "proc/sys/kernel/random/boot_id"); id != unknown {
		return id
	}
	return ""
}

// contents is what a file holds; one that can't be read holds nothing.
func contents(root, path string) []byte {
	data, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		return nil
	}
	return data
}

// line is the one line of a file, or unknown.
func line(root, path string) string {
	if text := strings.TrimSpace(string(contents(root, path))); text != "" {
		return text
	}
	return unknown
}

// countCPUs counts a CPU list as the kernel writes it: "0-3,8". A list that it
// can't read counts zero.
func countCPUs(list []byte) int {
	count := 0
	for part := range strings.SplitSeq(strings.TrimSpace(string(list)), ",") {
		first, last, ranged := strings.Cut(part, "-")
		if !ranged {
			last = first
		}
		from, err1 := strconv.ParseUint(first, 10, 16)
		to, err2 := strconv.ParseUint(last, 10, 16)
		if err1 != nil || err2 != nil || to < from {
			return 0
		}
		count += int(to-from) + 1
	}
	return count
}

// cpuInfo is what /proc/cpuinfo holds for the first CPU.
type cpuInfo struct {
	model             string
	implementer, part string // arm64, which names no model
	flags             bool   // x86, where the hypervisor flag marks a guest
	hypervisor        bool
}

func parseCPUInfo(data []byte) cpuInfo {
	var info cpuInfo
	first, _, _ := bytes.Cut(data, []byte("\n\n"))
	for line := range bytes.Lines(first) {
		key, value, _ := strings.Cut(string(line), ":")
		value = strings.TrimSpace(value)
		switch strings.TrimSpace(key) {
		case "model name":
			info.model = value
		case "CPU implementer":
			info.implementer = value
		case "CPU part":
			info.part = value
		case "flags":
			info.flags = true
			for flag := range strings.FieldsSeq(value) {
				info.hypervisor = info.hypervisor || flag == "hypervisor"
			}
		}
	}
	return info
}

func (info cpuInfo) name() string {
	switch {
	case info.model != "":
		return info.model
	case armPart(info.implementer, info.part) != "":
		return armPart(info.implementer, info.part)
	case info.implementer != "" && info.part != "":
		return "implementer " + info.implementer + " part " + info.part
	}
	return unknown
}
