// Package servicemesh is the relays of a service mesh, as Envoy and ztunnel are Istio's. A relay takes
// the TCP connections that rules redirect to it in a container's namespace, and carries them by
// mutual TLS to the relay of the other end. A lab starts the relays and orders by a socket whose
// connections they take.
package servicemesh

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Verb is the hidden command of a relay: Verb sidecar, or Verb ambient. Its standard input is
// the socket of its orders.
const Verb = "mesh-relay"

// The kinds of relays.
const (
	Sidecar = "sidecar" // in the namespace of one container, as Envoy in Istio's pods
	Ambient = "ambient" // of a host, with sockets in the namespaces of its containers, as ztunnel
)

// The ports of a relay in a container's namespace, as Istio has them.
const (
	OutboundPort = 15001 // what the container sends is redirected here
	InboundPort  = 15006 // what comes to the container is redirected here
	TunnelPort   = 15008 // tunnels of other relays end here: ambient only
)

// AppSource is the address from which a sidecar connects to its own container.
func AppSource() netip.Addr { return netip.AddrFrom4([4]byte{127, 0, 0, 6}) }

// Workload is a container whose connections a relay takes.
type Workload struct {
	Credentials
	Addr    netip.Addr
	Members []Members
}

// Members are containers of the mesh: those of a host. Connections to all else are passed on as
// they are.
type Members struct {
	Subnet netip.Prefix
	Host   netip.Addr // the host's address in the subnet, which is no member
}

func (w Workload) member(addr netip.Addr) bool {
	return slices.ContainsFunc(w.Members, func(m Members) bool { return m.Subnet.Contains(addr) && addr != m.Host })
}

// threads is how many threads a relay runs at most: the default of Istio's sidecar
// (concurrency) and of ztunnel.
const threads = 2

// Run does the work of Verb. It writes a line once it takes orders, and returns when the socket
// of the orders ends.
func Run(kind string, orders *os.File, w io.Writer) error {
	if kind != Sidecar && kind != Ambient {
		return fmt.Errorf("mesh relay %q: give %s or %s", kind, Sidecar, Ambient)
	}
	runtime.GOMAXPROCS(min(threads, runtime.GOMAXPROCS(0)))
	home, err := os.Open("/proc/self/ns/net")
	if err != nil {
		return fmt.Errorf("hold namespace: %w", err)
	}
	conn, err := unixSocket(orders)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := fmt.Fprintln(w); err != nil {
		return fmt.Errorf("report that the relay takes orders: %w", err)
	}
	r := &relays{kind: kind, home: home, of: map[netip.Addr]*relayed{}}
	for {
		if err := r.obey(conn); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// relays are the containers of a relay.
type relays struct {
	kind string
	home *os.File
	of   map[netip.Addr]*relayed
}

// relayed is a container whose connections are taken.
type relayed struct {
	Workload
	place     place
	trust     *trust
	listeners []*net.TCPListener
	pool      *pool

	mu   sync.Mutex
	open map[*net.TCPConn]bool // the connections that were accepted
}

func (r *relays) obey(conn *net.UnixConn) error {
	text, rights := make([]byte, mostOrder), make([]byte, unix.CmsgSpace(4))
	n, controlled, _, _, err := conn.ReadMsgUnix(text, rights)
	if err != nil {
		return err
	}
	if n == 0 {
		return io.EOF
	}
	answer := ""
	if err := r.carryOut(text[:n], rights[:controlled]); err != nil {
		answer = err.Error()
	}
	_, err = fmt.Fprintf(conn, "%s\n", answer)
	return err
}

func (r *relays) carryOut(text, rights []byte) error {
	var o order
	if err := json.Unmarshal(text, &o); err != nil {
		return fmt.Errorf("read order: %w", err)
	}
	if o.Add == nil {
		return r.drop(o.Drop)
	}
	at := place{}
	if r.kind == Ambient {
		namespace, err := namespaceIn(rights)
		if err != nil {
			return err
		}
		at = place{net: namespace, home: r.home}
	}
	return r.add(*o.Add, at)
}

// namespaceIn is the namespace whose descriptor came with a message.
func namespaceIn(rights []byte) (*os.File, error) {
	messages, err := unix.ParseSocketControlMessage(rights)
	if err != nil {
		return nil, fmt.Errorf("read order: %w", err)
	}
	for _, m := range messages {
		if fds, err := unix.ParseUnixRights(&m); err == nil && len(fds) > 0 {
			unix.CloseOnExec(fds[0])
			return os.NewFile(uintptr(fds[0]), "namespace"), nil
		}
	}
	return nil, errors.New("read order: no namespace came with it")
}

// add begins to take a container's connections.
func (r *relays) add(w Workload, at place) (err error) {
	c := &relayed{Workload: w, place: at, open: map[*net.TCPConn]bool{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.close())
		}
	}()
	protocol, ports := protocolOfSidecars, map[uint16]func(*net.TCPConn){OutboundPort: c.outbound, InboundPort: c.inbound}
	if r.kind == Ambient {
		protocol = protocolOfTunnels
		ports = map[uint16]func(*net.TCPConn){OutboundPort: c.outboundByTunnel, InboundPort: refuse, TunnelPort: c.endTunnels}
	}
	if c.trust, err = w.trust(protocol); err != nil {
		return err
	}
	c.pool = newPool(c)
	for port, serve := range ports {
		listener, err := at.listen(port)
		if err != nil {
			return fmt.Errorf("relay connections of %s: %w", w.Addr, err)
		}
		c.listeners = append(c.listeners, listener)
		go c.accept(listener, serve)
	}
	r.of[w.Addr] = c
	return nil
}

// drop ends to take a container's connections, and resets those that there are: a socket keeps its
// namespace.
func (r *relays) drop(addr netip.Addr) error {
	c, known := r.of[addr]
	if !known {
		return fmt.Errorf("no connections of %s are relayed", addr)
	}
	delete(r.of, addr)
	return c.close()
}

func (c *relayed) close() error {
	var errs []error
	for _, listener := range c.listeners {
		errs = append(errs, listener.Close())
	}
	c.mu.Lock()
	for conn := range c.open {
		reset(conn)
	}
	c.mu.Unlock()
	if c.pool != nil {
		c.pool.close()
	}
	if c.place.net != nil {
		errs = append(errs, c.place.net.Close())
	}
	return errors.Join(errs...)
}

// acceptPause is how long a relay without a free descriptor waits for one.
const acceptPause = 5 * time.Millisecond

// accept serves the connections of a listener until it is closed.
func (c *relayed) accept(listener *net.TCPListener, serve func(*net.TCPConn)) {
	for {
		conn, err := listener.AcceptTCP()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			time.Sleep(acceptPause)
		default:
			go func() {
				c.note(conn, true)
				defer c.note(conn, false)
				serve(conn)
			}()
		}
	}
}

// note keeps a connection for close, or forgets it.
func (c *relayed) note(conn *net.TCPConn, opens bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if opens {
		c.open[conn] = true
	} else {
		delete(c.open, conn)
	}
}

// refuse refuses what came in plain to a container of the mesh: Istio's mode STRICT.
func refuse(conn *net.TCPConn) { reset(conn) }
