// Command lab measures what a lab costs: how long it takes to build and to remove, and what
// a user waits for besides.
//
//	make build; go run ./bench/lab [-tare dist/tare] [-containers 300] [-rounds 7]
//
// It has tare bring up large labs, as root, from the repository's root (tool.go). Then it
// builds containers on a bridge, all on one host and half on each of two, and removes them
// again. For comparison it has the bare kernel make as many network namespaces with a veth
// pair each, up, by bare netlink.
//
// Removed means gone there: closing the last descriptor only asks the kernel to begin, and it
// unregisters devices and frees namespaces later, from a queue. The kernel gives a namespace
// back to its owner's allowance at the very end of that (net/core/net_namespace.c,
// cleanup_net: dec_net_namespaces after the last rcu_barrier). So the bench runs in a new user
// namespace, whose allowance, user.max_net_namespaces, is one more than what it holds without
// a lab: the moment a new namespace is granted, every other is gone.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"tare/catalog"
	"tare/lab"
	"tare/network"
	"tare/network/kinds"
	"tare/probe"
)

// insideVerb is how the bench starts itself as the init of a lab.
const insideVerb = "inside"

func main() {
	tare := flag.String("tare", "dist/tare", "the tare whose labs are timed")
	containers := flag.Int("containers", 300, "containers of a lab")
	rounds := flag.Int("rounds", 7, "how often each is built and removed")
	flag.Parse()
	work := func() error { return errors.Join(tool(os.Stdout, *tare), start()) }
	if flag.Arg(0) == insideVerb {
		work = func() error { return inside(*containers, *rounds) }
	}
	if err := work(); err != nil {
		fmt.Fprintln(os.Stderr, "bench lab:", err)
		os.Exit(1)
	}
}

// start runs the bench as the init of a lab, in a user namespace.
func start() error {
	runtime.LockOSThread() // the parent-death signal is that of the thread
	cmd := exec.Command("/proc/self/exe", append(os.Args[1:], insideVerb)...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = lab.Attributes(true)
	if lab.Privileged() {
		cmd.SysProcAttr.Cloneflags |= unix.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}}
	}
	return lab.Explain(cmd.Run())
}

// subject is something to build and to remove.
type subject struct {
	name  string
	build func() (remove func() error, err error)
}

func inside(containers, rounds int) error {
	if err := lab.Enter(); err != nil {
		return err
	}
	runtime.LockOSThread() // the allowance's probe leaves this thread where it is
	env := probe.Environment("/")
	fmt.Printf("linux %s, %s, %d CPUs, %s, clock %s; %d containers, %d rounds\n",
		env.Kernel, env.CPUModel, env.CPUs, env.Virtualisation, env.Clocksource, containers, rounds)
	fmt.Printf("%-22s %34s %34s\n", "ms per container", "build: median [min, max]", "remove: median [min, max]")
	for _, s := range []subject{
		{"kernel alone", func() (func() error, error) { return bare(containers) }},
		{"bridge, 1 host", func() (func() error, error) { return bridge(1, containers) }},
		{"bridge, 2 hosts", func() (func() error, error) { return bridge(2, containers/2) }},
	} {
		var built, removed []float64
		for range rounds {
			b, r, err := round(s)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			built = append(built, perContainer(b, containers))
			removed = append(removed, perContainer(r, containers))
		}
		fmt.Printf("%-22s %34s %34s\n", s.name, spread(built), spread(removed))
	}
	return nil
}

// round builds and removes once.
func round(s subject) (built, removed time.Duration, err error) {
	start := time.Now()
	remove, err := s.build()
	if err != nil {
		return 0, 0, err
	}
	built = time.Since(start)
	start = time.Now()
	if err := remove(); err != nil {
		return 0, 0, err
	}
	gone, err := waitUntilGone()
	return built, gone.Sub(start), err
}

// bridge builds a lab.
func bridge(hosts, perHost int) (func() error, error) {
	usable, err := lab.UsableCPUs()
	if err != nil {
		return nil, err
	}
	l := lab.New(lab.Config{CC: "cubic", Pin: catalog.PinApart, All: usable})
	cluster, err := l.NewCluster(lab.ClusterSpec{Name: "bench", Hosts: hosts, MTU: 1500, NIC: lab.NICFull})
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	n, known := kinds.Find("bridge")
	if !known {
		return nil, errors.Join(errors.New("no network bridge"), l.Close())
	}
	if err := n.Build(cluster, &network.Setup{Containers: perHost}); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l.Close, nil
}

func perContainer(d time.Duration, containers int) float64 {
	return d.Seconds() * 1e3 / float64(containers)
}

func spread(ms []float64) string {
	slices.Sort(ms)
	middle := (ms[(len(ms)-1)/2] + ms[len(ms)/2]) / 2
	return fmt.Sprintf("%.2f [%.2f, %.2f]", middle, ms[0], ms[len(ms)-1])
}
