package main

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/spf13/cobra"

	"tare/agent"
	"tare/lab"
	"tare/network"
)

// serveCommand is the engine's serving end without a lab.
func serveCommand(s streams) *cobra.Command {
	var bind, pin string
	var token tokenFlags
	var asIperf3, open bool
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve the runs of tare send, at one port",
		Long: `Serves the runs that tare send asks for, one after another or side by side, until
it is interrupted. One port takes requests and data; a second run at the same
time uses another port. A peer without a run's token is dropped and counted. With --iperf3 it is a server for
iperf3's own clients instead.

Bind it to the address of the path under test. With a token only senders that
have the same one are served; it does not cross the network. At an address beyond
the loopback it needs a token, or --open.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			at, err := bindAddress(bind, portOf(asIperf3))
			if err != nil {
				return err
			}
			secret, err := token.read()
			if err != nil {
				return err
			}
			if err := pinTo(pin); err != nil {
				return err
			}
			if asIperf3 {
				if token.text != "" || token.file != "" {
					return wrong("--token: iperf3 has none: leave it out")
				}
				if !open && !at.Addr().IsLoopback() {
					return openness(at, "iperf3 has no token: give ")
				}
				return errors.Join(serveIperf3(c.Context(), at, s), c.Context().Err())
			}
			if secret == "" && !open && !at.Addr().IsLoopback() {
				return openness(at, "give --token-file, or ")
			}
			log := func(text string) { fmt.Fprintf(s.err, "%s %s\n", time.Now().Format(time.TimeOnly), text) }
			p := &agent.Port{Secret: secret, Version: version, Log: log, Ready: func(at netip.AddrPort) { log(fmt.Sprintf("serving at %v", at)) }}
			return errors.Join(p.Serve(c.Context(), at), c.Context().Err())
		},
	}
	c.Flags().StringVar(&bind, "bind", "", fmt.Sprintf("address to listen on, as 10.0.0.2:%d (default 127.0.0.1:%d)", network.Port, network.Port))
	c.Flags().StringVar(&pin, "pin", "", "CPUs to run on, as 0 or 1-3 (default: where it was started)")
	token.register(c, "serve only senders that have the same token")
	c.Flags().BoolVar(&open, "open", false, "serve anybody who reaches an address beyond the loopback")
	c.Flags().BoolVar(&asIperf3, "iperf3", false, "serve the clients of iperf3 instead")
	return c
}

// portOf is the port where none is given: iperf3 has another.
func portOf(iperf3 bool) uint16 {
	if iperf3 {
		return 5201
	}
	return network.Port
}

// bindAddress reads where to listen: an address, with a port or without.
func bindAddress(text string, port uint16) (netip.AddrPort, error) {
	local := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), port)
	if text == "" {
		return local, nil
	}
	if at, err := netip.ParseAddrPort(text); err == nil {
		return at, nil
	}
	if addr, err := netip.ParseAddr(text); err == nil {
		return netip.AddrPortFrom(addr, port), nil
	}
	return local, wrong("--bind %q: write an address and a port, as in 10.0.0.2:%d", text, port)
}

// pinTo binds this process to a list of CPUs; an empty one leaves it where it is.
func pinTo(list string) error {
	if list == "" {
		return nil
	}
	set, err := lab.ParseCPUSet(list)
	if err != nil {
		return wrong("--pin: %w", err)
	}
	if err := set.BindProcess(); err != nil {
		return wrong("--pin %s: %w: see /sys/devices/system/cpu/online for the CPUs that are there", list, err)
	}
	return nil
}
