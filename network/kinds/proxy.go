package kinds

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"

	"tare/engine"
	"tare/lab"
	"tare/network"
)

// RelayVerb is the hidden command by which the binary relays published ports:
// RelayVerb LISTEN/PROTOCOL=TO...
const RelayVerb = "relay"

// proxy is a bridge, and for each container with published ports a process that
// relays them, as docker-proxy does.
func proxy() network.Network {
	return network.Network{
		SetUp: func(cluster *lab.Cluster, setup *network.Setup) error {
			b := network.OwnSubnet(cluster.Spec.MTU)
			// Containers reach the other host's published port unmasqueraded.
			if err := errors.Join(network.EachHost(cluster, b.SetUp), network.RouteBetweenHosts(cluster)); err != nil {
				return err
			}
			return setup.Populate(cluster, func(c *lab.Container) error {
				if err := b.Plug(c); err != nil {
					return err
				}
				return startRelay(c, setup.Published(c))
			})
		},
	}
}

// startRelay starts a process that relays a container's published ports.
func startRelay(c *lab.Container, ports []engine.Port) error {
	if len(ports) == 0 {
		return nil
	}
	args := []string{RelayVerb}
	for _, port := range ports {
		relay := func(at, to netip.Addr) {
			args = append(args, fmt.Sprintf("%s/%s=%s", netip.AddrPortFrom(at, port.Host), port.Protocol, netip.AddrPortFrom(to, port.Container)))
		}
		relay(c.Host.Addr, c.Addr)
		if at := c.Host.At(); at.Is6() {
			relay(at, lab.IPv6Of(c.Addr))
		}
	}
	return c.Host.StartSelf(&c.Undo, args...)
}

// relayIdle is how long a relayed UDP peer may be idle.
const relayIdle = 90 * time.Second

// RunRelay does the work of RelayVerb. As docker-proxy does, it opens a connection
// or a socket for each peer and copies the bytes in user space. Each argument is
// LISTEN/PROTOCOL=TO, as 10.0.0.1:5210/udp=10.101.0.2:5210. It writes a line once
// it listens on all addresses, and returns when the context ends.
func RunRelay(ctx context.Context, relays []string, w io.Writer) (err error) {
	ended := make(chan error, len(relays))
	for _, text := range relays {
		relay, errListen := listenFor(text)
		if errListen != nil {
			return fmt.Errorf("relay %q: %w", text, errListen)
		}
		defer func() { err = errors.Join(err, relay.front.Close()) }()
		go func() { ended <- relay.run() }()
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return fmt.Errorf("report that the relays listen: %w", err)
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-ended:
		return err
	}
}

// relay is one relayed port.
type relay struct {
	front io.Closer
	run   func() error
}

// listenFor listens on the address of an argument of RunRelay.
func listenFor(text string) (relay, error) {
	at, back, _ := strings.Cut(text, "=")
	at, protocol, _ := strings.Cut(at, "/")
	listen, errListen := netip.ParseAddrPort(at)
	to, errTo := netip.ParseAddrPort(back)
	if err := errors.Join(errListen, errTo); err != nil {
		return relay{}, fmt.Errorf("%w: give LISTEN/PROTOCOL=TO", err)
	}
	switch protocol {
	case "tcp":
		front, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(listen))
		return relay{front, func() error { return relayTCP(front, to) }}, err
	case "udp":
		front, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(listen))
		dial := func() (*net.UDPConn, error) { return net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(to)) }
		return relay{front, func() error { return relayUDP(front, dial) }}, err
	}
	return relay{}, fmt.Errorf("protocol %q: give tcp or udp", protocol)
}

func relayTCP(listener *net.TCPListener, to netip.AddrPort) error {
	for {
		client, err := listener.AcceptTCP()
		if err != nil {
			return fmt.Errorf("accept: %w", err)
		}
		go relayConnection(client, to)
	}
}

// relayConnection copies in both directions until both ends have closed. An error
// on one connection closes the other.
func relayConnection(client *net.TCPConn, to netip.AddrPort) {
	defer client.Close()
	server, err := net.DialTCP("tcp", nil, net.TCPAddrFromAddrPort(to))
	if err != nil {
		return // the client sees its connection closed, as from docker-proxy
	}
	defer server.Close()
	var both sync.WaitGroup
	for _, way := range [][2]*net.TCPConn{{client, server}, {server, client}} {
		both.Go(func() {
			from, into := way[0], way[1]
			if _, err := io.Copy(into, from); err != nil {
				from.Close()
				into.Close()
				return
			}
			if err := into.CloseWrite(); err != nil {
				into.Close()
			}
		})
	}
	both.Wait()
}

// relayUDP opens a socket to the server for each peer, for the replies. A datagram for which
// none is to be had, as where all ports are in use, is lost.
func relayUDP(front *net.UDPConn, dial func() (*net.UDPConn, error)) error {
	var mu sync.Mutex
	peers := map[netip.AddrPort]*net.UDPConn{}
	datagram := make([]byte, 64<<10)
	for {
		n, from, err := front.ReadFromUDPAddrPort(datagram)
		if err != nil {
			return fmt.Errorf("receive datagram: %w", err)
		}
		mu.Lock()
		back, known := peers[from]
		mu.Unlock()
		if !known {
			if back, err = dial(); err != nil {
				continue
			}
			mu.Lock()
			peers[from] = back
			mu.Unlock()
			go func() {
				relayReplies(front, back, from)
				mu.Lock()
				delete(peers, from)
				mu.Unlock()
				back.Close()
			}()
		}
		// A datagram that the server refuses is lost, as on every path.
		if _, err := back.Write(datagram[:n]); errors.Is(err, net.ErrClosed) {
			continue
		}
	}
}

// relayReplies passes a server's replies back until it is idle.
func relayReplies(front, back *net.UDPConn, peer netip.AddrPort) {
	datagram := make([]byte, 64<<10)
	for {
		if err := back.SetReadDeadline(time.Now().Add(relayIdle)); err != nil {
			return
		}
		n, err := back.Read(datagram)
		if errors.Is(err, net.ErrClosed) || isTimeout(err) {
			return
		}
		if err != nil {
			continue // an ICMP refusal: the server's port is closed for now
		}
		if _, err := front.WriteToUDPAddrPort(datagram[:n], peer); err != nil {
			return
		}
	}
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}
