package kinds

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"time"

	"tare/catalog"
	"tare/engine"
	"tare/lab"
	"tare/network"
)

// gvisorTapVsock is a rootless container behind gvproxy, whose TCP/IP stack in user space is
// gVisor's. gvforwarder copies between it and the container's TAP device.
func gvisorTapVsock() network.Network {
	return rootless(network.Network{
		Needs: []engine.Need{tunNeed(), needGvproxy(), needGvforwarder(), needNsenter()},
	}, startGvproxy)
}

func needGvproxy() engine.Need     { return engine.NeedPart("gvproxy", "--version") }
func needGvforwarder() engine.Need { return engine.NeedPart("gvforwarder", "--version") }
func needNsenter() engine.Need     { return engine.NeedProgram("nsenter", "util-linux", "--version") }

// startGvproxy starts gvproxy for a container, connects the container to it, and has it listen
// at the published ports.
func startGvproxy(c *lab.Container, _ *network.Setup, with tap) error {
	program, err := needGvproxy().Require()
	if err != nil {
		return err
	}
	name := "gvproxy-" + c.Short
	base := lab.Scratch + "/" + name
	config := fmt.Sprintf("stack: {subnet: %s/24, mtu: %s}\n", rootlessAddr(c, 0), with.mtu)
	if err := c.Host.WriteFile(base+".yaml", []byte(config), 0o644); err != nil {
		return err
	}
	socket := base + ".sock"
	err = startFor(c, lab.Daemon{
		Name:  name,
		Argv:  []string{program, "-config", base + ".yaml", "-listen", "unix://" + socket},
		Ready: func() error { return engine.Listens(socket) },
	})
	if err != nil {
		return err
	}
	// It does not start where the socket of another is.
	c.Detach.Push(func() error { return c.Host.Inside(func() error { return os.Remove(socket) }) })
	if err := startGvforwarder(c, with, socket); err != nil {
		return err
	}
	for _, port := range with.ports {
		if err := exposeGvproxy(socket, c, port); err != nil {
			return fmt.Errorf("publish %d/%s of %s: %w", port.Host, port.Protocol, c.Name, err)
		}
	}
	return nil
}

// startGvforwarder starts the process that has the container's TAP device, and sets the
// device's MTU, address and route, which RootlessKit's child does there.
func startGvforwarder(c *lab.Container, with tap, socket string) error {
	var found [2]string
	for n, need := range []engine.Need{needNsenter(), needGvforwarder()} {
		path, err := need.Require()
		if err != nil {
			return err
		}
		found[n] = path
	}
	mtu, err := strconv.Atoi(with.mtu)
	if err != nil {
		return fmt.Errorf("read %s of %s: %w", catalog.TapMTU, c.Name, err)
	}
	err = startFor(c, lab.Daemon{
		Name: "gvforwarder-" + c.Short,
		Argv: []string{
			found[0], "--net=" + with.path, found[1], "-url", "unix://" + socket, "-iface", lab.Device, "-mtu", with.mtu,
			"-preexisting", "-stop-if-exist", "", // it needs no DHCP client then
		},
		Ready: func() error { return c.SetMTU(lab.Device, mtu) }, // the device is there
	})
	if err != nil {
		return err
	}
	if err := c.SetUp(lab.Device); err != nil {
		return err
	}
	if err := c.AddAddress(lab.Device, netip.PrefixFrom(c.Addr, 24)); err != nil {
		return err
	}
	return c.AddRoute(lab.Route{To: lab.Default(), Device: lab.Device, Via: rootlessAddr(c, 1)})
}

// exposeGvproxy has it listen at a port of the host (its HTTP API, /services/forwarder/expose).
func exposeGvproxy(socket string, c *lab.Container, port engine.Port) error {
	conn, err := engine.DialUnix(c.Host, socket)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		return err
	}
	body, err := json.Marshal(map[string]string{
		"protocol": port.Protocol,
		"local":    netip.AddrPortFrom(c.Host.Addr, port.Host).String(),
		"remote":   netip.AddrPortFrom(c.Addr, port.Container).String(),
	})
	if err != nil {
		return err
	}
	request, err := http.NewRequest(http.MethodPost, "http://gvproxy/services/forwarder/expose", bytes.NewReader(body))
	if err != nil {
		return err
	}
	if err := request.Write(conn); err != nil {
		return err
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), request)
	if err != nil {
		return fmt.Errorf("read its answer: %w", err)
	}
	why, err := io.ReadAll(answer.Body)
	if err = errors.Join(err, answer.Body.Close()); err != nil {
		return fmt.Errorf("read its answer: %w", err)
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("it answers %s: %s", answer.Status, bytes.TrimSpace(why))
	}
	return nil
}
