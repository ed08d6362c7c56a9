package network

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
)

// relayIdle is how long a relayed UDP peer may be silent.
const relayIdle = 90 * time.Second

// RunRelay passes what arrives at addresses on to others, as RelayVerb, as
// docker-proxy does: a connection or a socket of its own per peer, and the bytes
// copied in user space. Each argument is LISTEN/PROTOCOL=TO, as
// 10.0.0.1:5210/udp=10.101.0.2:5210. It writes a line once it listens at all,
// and ends with the context.
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
		return fmt.Errorf("tell that relays listen: %w", err)
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-ended:
		return err
	}
}

// relay is one port that is passed on.
type relay struct {
	front io.Closer
	run   func() error
}

// listenFor listens as an argument of RunRelay says.
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
		front, err := net.ListenTCP("tcp4", net.TCPAddrFromAddrPort(listen))
		return relay{front, func() error { return relayTCP(front, to) }}, err
	case "udp":
		front, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(listen))
		return relay{front, func() error { return relayUDP(front, to) }}, err
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

// relayConnection copies both ways until both sides have closed. An error on
// one side is passed to the other as the close that it is.
func relayConnection(client *net.TCPConn, to netip.AddrPort) {
	defer client.Close()
	server, err := net.DialTCP("tcp4", nil, net.TCPAddrFromAddrPort(to))
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

// relayUDP gives each peer a socket towards the server, for the answers.
func relayUDP(front *net.UDPConn, to netip.AddrPort) error {
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
			back, err = net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(to))
			if err != nil {
				return fmt.Errorf("relay datagrams to %s: %w", to, err)
			}
			mu.Lock()
			peers[from] = back
			mu.Unlock()
			go func() {
				relayAnswers(front, back, from)
				mu.Lock()
				delete(peers, from)
				mu.Unlock()
				back.Close()
			}()
		}
		// A datagram that the server refuses is lost, as on any path.
		if _, err := back.Write(datagram[:n]); errors.Is(err, net.ErrClosed) {
			continue
		}
	}
}

// relayAnswers passes a server's answers back until it is silent for long.
func relayAnswers(front, back *net.UDPConn, peer netip.AddrPort) {
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
