package everything

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// machine is what a run must leave as it was: a word for each thing, mapped to
// what it looks like.
type machine map[string]string

// restless are the sysctls that change by themselves: counters, random
// numbers, and what the kernel tunes as it runs.
var restless = regexp.MustCompile(`random/|_count$|-nr$|-state$|ns_last_pid|max_sample_rate|max_newidle_lb_cost|pty/|/cdrom/|spin_retry|seccomp|` +
	`net/ipv6/conf/.*/stable_secret|net/core/bpf_jit_limit|kernel/perf_|kernel/tainted`)

// look reads the machine.
func look(t *testing.T) machine {
	t.Helper()
	m := machine{}
	for name, argv := range map[string][]string{
		"network namespaces": {"ip", "netns", "list"},
		"links":              {"ip", "-o", "link"},
		"addresses":          {"ip", "-o", "-4", "addr"},
		"routes":             {"ip", "route", "show", "table", "all"},
		"nftables":           {"nft", "list", "ruleset"},
	} {
		out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", strings.Join(argv, " "), err, out)
		}
		m[name] = string(out)
	}
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		t.Fatal(err)
	}
	m["mounts"] = string(mounts)
	m["control groups"] = strings.Join(folders(t, "/sys/fs/cgroup", 3), "\n")
	m["sysctls"] = sysctls(t)
	for _, dir := range []string{"/etc/docker", "/etc/cni", "/etc/openvswitch", "/var/lib/docker", "/var/lib/containerd", "/var/lib/cni", "/run/docker", "/run/containerd", "/run/openvswitch", "/run/ovn", "/var/lib/ovn", "/run/bird", "/run/frr", "/run/flannel", "/run/tare", "/run/netns",
		"/opt/containerd", "/root/.docker", "/var/lib/containers", "/etc/containers", "/run/containers", "/run/libpod", "/sys/fs/cgroup/unified"} {
		m[dir] = strings.Join(folders(t, dir, 4), "\n")
	}
	m["daemons"] = daemons(t)
	return m
}

// folders lists the folders below one, so many levels deep.
func folders(t *testing.T, root string, depth int) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case !entry.IsDir():
			return nil
		case strings.Count(strings.TrimPrefix(path, root), "/") > depth:
			return fs.SkipDir
		}
		all = append(all, path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// sysctls reads every value of the machine's that stays by itself.
func sysctls(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, root := range []string{"/proc/sys/net", "/proc/sys/kernel", "/proc/sys/vm"} {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || restless.MatchString(path) {
				return err
			}
			text, err := os.ReadFile(path)
			if err == nil { // some can only be written
				all.WriteString(path + "=" + strings.TrimSpace(string(text)) + "\n")
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all.String()
}

// daemons are the real parts that run on the machine.
func daemons(t *testing.T) string {
	t.Helper()
	names, err := filepath.Glob("/proc/[0-9]*/comm")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, path := range names {
		text, err := os.ReadFile(path)
		name := strings.TrimSpace(string(text))
		if err == nil && slices.ContainsFunc(parts(), func(part string) bool { return strings.HasPrefix(name, part) }) {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

func parts() []string {
	return []string{
		"dockerd", "docker", "containerd", "runc", "ovs", "ovsdb", "ovn", "etcd", "flanneld", "gvproxy", "gvforwarder", "podman", "conmon", "rootlessport",
		"slirp4netns", "runsc", "bird", "zebra", "bgpd", "tare",
	}
}

// differences lists what changed, line by line.
func differences(before, after machine) []string {
	var all []string
	for name := range before {
		had, has := strings.Split(before[name], "\n"), strings.Split(after[name], "\n")
		for _, line := range has {
			if !slices.Contains(had, line) {
				all = append(all, name+": new: "+line)
			}
		}
		for _, line := range had {
			if !slices.Contains(has, line) {
				all = append(all, name+": gone: "+line)
			}
		}
	}
	slices.Sort(all)
	return all
}
