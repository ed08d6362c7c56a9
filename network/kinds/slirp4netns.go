package kinds

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"time"

	"golang.org/x/sys/unix"

	"tare/engine"
	"tare/lab"
	"tare/network"
)

// slirp4netns is a rootless container behind slirp4netns, whose TCP/IP stack in user space is
// QEMU's.
func slirp4netns() network.Network {
	return rootless(network.Network{
		Needs: []engine.Need{tunNeed(), needSlirp4netns()},
	}, startSlirp4netns)
}

func needSlirp4netns() engine.Need {
	return engine.NeedProgram("slirp4netns", "slirp4netns", "--version")
}

func startSlirp4netns(c *lab.Container, _ *network.Setup, with tap) error {
	program, err := needSlirp4netns().Require()
	if err != nil {
		return err
	}
	name := "slirp4netns-" + c.Short
	socket := lab.Scratch + "/" + name + ".sock"
	err = startFor(c, lab.Daemon{
		Name: name,
		Argv: []string{
			program, "--configure", "--mtu=" + with.mtu, "--cidr=" + rootlessAddr(c, 0).String() + "/24", "--disable-dns",
			"--netns-type=path", "--api-socket=" + socket, with.path, lab.Device,
		},
		Ready: func() error { return engine.Listens(socket) },
	})
	if err != nil {
		return err
	}
	return c.Host.Inside(func() error {
		for _, port := range with.ports {
			if err := forwardSlirp4netns(socket, c, port); err != nil {
				return fmt.Errorf("publish %d/%s of %s: %w", port.Host, port.Protocol, c.Name, err)
			}
		}
		return nil
	})
}

// forwardSlirp4netns has it listen at a port of the host (slirp4netns(1), API SOCKET).
func forwardSlirp4netns(socket string, c *lab.Container, port engine.Port) error {
	conn, err := net.Dial("unix", socket)
	for deadline := time.Now().Add(10 * time.Second); errors.Is(err, unix.EAGAIN) && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond) // it takes one at a time, and lets one wait
		conn, err = net.Dial("unix", socket)
	}
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		return err
	}
	err = json.NewEncoder(conn).Encode(map[string]any{"execute": "add_hostfwd", "arguments": map[string]any{
		"proto": port.Protocol, "host_addr": c.Host.Addr, "host_port": port.Host, "guest_addr": c.Addr, "guest_port": port.Container,
	}})
	if err != nil {
		return err
	}
	var answer struct {
		Error map[string]any `json:"error"`
	}
	if err := json.NewDecoder(conn).Decode(&answer); err != nil {
		return fmt.Errorf("read its answer: %w", err)
	}
	if answer.Error != nil {
		return fmt.Errorf("it answers %v", answer.Error["desc"])
	}
	return nil
}
