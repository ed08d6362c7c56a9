package kinds_test

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
	"tare/engine/runsc"
	"tare/lab"
	"tare/network/kinds"
	"tare/test/labmain"
)

func TestMain(m *testing.M) {
	labmain.Run(m, "network", labmain.Verbs{
		kinds.TunnelVerb:      func(a []string) error { return kinds.RunTunnel(context.Background(), a[0], os.Stdout) },
		docker.LookUpVerb:     func(a []string) error { return docker.LookUp(context.Background(), a[0], os.Stdout) },
		lab.ContainerExecVerb: containerExec,
		"own-docker":          func([]string) error { return ownDocker() },
		"greet":               func(a []string) error { return greet(a[0]) },
		"call":                func(a []string) error { return printed(call(a[0])) },
		"speak":               func(a []string) error { return printed(speak(a[0])) },
		"answer":              func(a []string) error { return answer(a[0]) },
		"ask":                 func(a []string) error { return ask(a[0]) },
		"refused":             func(a []string) error { return refused(a[0]) },
		"sniff":               func(a []string) error { return sniff(a[0]) },
		runsc.ExecVerb:        sandboxExec,
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

// sandboxExec runs a command in a sandbox and exits with its status.
func sandboxExec(argv []string) error {
	status, err := runsc.Exec(argv[0], argv[1:])
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

// callWait is more than an answer takes on a machine that is not stuck.
const callWait = 30 * time.Second

// ready is what a server of these tests prints once it can be called.
const ready = "ready"

// greet accepts one connection and sends the caller its address as the server sees
// it. It closes after the caller: to close what was not read would reset the connection.
func greet(address string) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	defer listener.Close()
	fmt.Println(ready)
	conn, err := listener.(*net.TCPListener).AcceptTCP()
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = fmt.Fprint(conn, conn.RemoteAddr())
	if err := errors.Join(err, conn.CloseWrite(), conn.SetReadDeadline(time.Now().Add(callWait))); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, conn)
	return err
}

// printed prints what a server has sent.
func printed(text string, err error) error {
	if err == nil && text == "" {
		err = errors.New("the server sent nothing")
	}
	fmt.Print(text)
	return err
}

// dial connects to a server, whose answer must come in callWait.
func dial(address string) (*net.TCPConn, error) {
	conn, err := net.DialTimeout("tcp", address, callWait)
	if err != nil {
		return nil, err
	}
	return conn.(*net.TCPConn), conn.SetDeadline(time.Now().Add(callWait))
}

// call returns what a server sends to a caller.
func call(address string) (string, error) {
	conn, err := dial(address)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	text, err := io.ReadAll(conn)
	return string(text), err
}

// silence is how long speak waits for what must not come.
const silence = 300 * time.Millisecond

// speak returns what a server sends that is silent until the caller speaks, and fails
// where it was not.
func speak(address string) (string, error) {
	conn, err := dial(address)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if err := conn.SetReadDeadline(time.Now().Add(silence)); err != nil {
		return "", err
	}
	if early, err := io.ReadAll(conn); !errors.Is(err, os.ErrDeadlineExceeded) || len(early) > 0 {
		return "", fmt.Errorf("without a word from the caller: %q, %w", early, err)
	}
	if _, err := conn.Write([]byte{0}); err != nil {
		return "", err
	}
	if err := conn.SetReadDeadline(time.Now().Add(callWait)); err != nil {
		return "", err
	}
	text, err := io.ReadAll(conn)
	return string(text), err
}

// answer sends back each datagram that comes, until it is killed.
func answer(address string) error {
	conn, err := net.ListenPacket("udp4", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	fmt.Println(ready)
	p := make([]byte, 100)
	for {
		n, from, err := conn.ReadFrom(p)
		if err != nil {
			return err
		}
		if _, err := conn.WriteTo(p[:n], from); err != nil {
			return err
		}
	}
}

// question is what ask sends.
const question = "who is there?"

// ask sends a datagram until it comes back: one may be lost.
func ask(address string) error {
	conn, err := net.Dial("udp4", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	p := make([]byte, 100)
	for deadline := time.Now().Add(callWait); time.Now().Before(deadline); {
		if err := conn.SetDeadline(time.Now().Add(silence)); err != nil {
			return err
		}
		if _, err := conn.Write([]byte(question)); err != nil {
			return err
		}
		n, err := conn.Read(p)
		switch {
		case err == nil && string(p[:n]) == question:
			return nil
		case err != nil && !errors.Is(err, os.ErrDeadlineExceeded):
			return err
		}
	}
	return fmt.Errorf("ask %s: no answer", address)
}

// refused fails unless connections to an address are refused.
func refused(address string) error {
	conn, err := net.DialTimeout("tcp", address, callWait)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return nil
	}
	if err == nil {
		conn.Close()
	}
	return fmt.Errorf("call %s: not refused: %w", address, err)
}
