package network_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"tare/engine/cniplugin"
	"tare/engine/containerd"
	"tare/engine/docker"
	"tare/lab"
	"tare/network"
	"tare/test/labmain"
)

func TestMain(m *testing.M) {
	labmain.Run(m, "network", labmain.Verbs{
		network.TunnelVerb:    func(a []string) error { return network.RunTunnel(context.Background(), a[0], os.Stdout) },
		docker.LookUpVerb:     func(a []string) error { return docker.LookUp(context.Background(), a[0], os.Stdout) },
		lab.ContainerExecVerb: containerExec,
		"own-docker":          func([]string) error { return ownDocker() },
		"greet":               func(a []string) error { return greet(a[0]) },
		"call":                func(a []string) error { return call(a[0]) },
		"refused":             func(a []string) error { return refused(a[0]) },
		"sniff":               func(a []string) error { return sniff(a[0]) },
		containerd.ExecVerb:   func(a []string) error { return containerd.Exec(a[1], a[2:]) }, // -- CONTAINER COMMAND...
		cniplugin.Verb:        func(a []string) error { return cniplugin.Run(context.Background(), a[0], os.Stdout) },
		"confined":            func([]string) error { return confined() },
	})
}

// containerExec runs an engine's command and exits with its status.
func containerExec(argv []string) error {
	status, err := lab.ExecInContainer(argv)
	if err == nil {
		os.Exit(status)
	}
	return err
}

// confined prints the CPUs that the process may use and its control groups.
func confined() error {
	cpus, err := lab.UsableCPUs()
	if err != nil {
		return err
	}
	groups, err := os.ReadFile("/proc/self/cgroup")
	fmt.Printf("%s\n%s", cpus, groups)
	return err
}

// callWait is how long call tries.
const callWait = 5 * time.Second

// greet accepts one connection and sends the caller its address as the server sees
// it.
func greet(address string) error {
	listener, err := net.Listen("tcp4", address)
	if err != nil {
		return err
	}
	defer listener.Close()
	conn, err := listener.Accept()
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = fmt.Fprint(conn, conn.RemoteAddr())
	return err
}

// call prints what the server sends. It tries again while there is no server.
func call(address string) error {
	for deadline := time.Now().Add(callWait); ; time.Sleep(10 * time.Millisecond) {
		printed, err := callOnce(address)
		if err == nil && printed != "" {
			fmt.Print(printed)
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("call %s: no greeting: %w", address, err)
		}
	}
}

// refused fails unless connections to an address are refused.
func refused(address string) error {
	conn, err := net.DialTimeout("tcp4", address, time.Second)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return nil
	}
	if err == nil {
		conn.Close()
	}
	return fmt.Errorf("call %s: not refused: %w", address, err)
}

func callOnce(address string) (string, error) {
	conn, err := net.DialTimeout("tcp4", address, time.Second)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Second)); err != nil {
		return "", err
	}
	printed, err := io.ReadAll(conn)
	return string(printed), err
}
