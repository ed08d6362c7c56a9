package servicemesh

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// order is one message to a relay: about a container to add, with the descriptor of its
// namespace if the relay is of a host, or about one to drop. The answer is a line: its error, empty if
// there is none.
type order struct {
	Add  *Workload  `json:"add,omitempty"`
	Drop netip.Addr `json:"drop,omitzero"`
}

// mostOrder bounds an order, in bytes.
const mostOrder = 128 << 10

// Control is the lab's end of the socket of a relay's orders.
type Control struct {
	mu   sync.Mutex // held from an order to its answer
	conn *net.UnixConn
}

// NewControl makes the socket. The relay's end is closed by the caller once the relay has it.
func NewControl() (c *Control, relay *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("make socket for a mesh relay: %w", err)
	}
	own, relay := os.NewFile(uintptr(fds[0]), "orders"), os.NewFile(uintptr(fds[1]), "relay")
	defer own.Close()
	conn, err := unixSocket(own)
	if err != nil {
		return nil, nil, errors.Join(err, relay.Close())
	}
	return &Control{conn: conn}, relay, nil
}

// unixSocket is a file that is one, or fails.
func unixSocket(file *os.File) (*net.UnixConn, error) {
	conn, err := net.FileConn(file)
	if err != nil {
		return nil, fmt.Errorf("open socket of a mesh relay's orders: %w: tare itself starts the relay", err)
	}
	socket, is := conn.(*net.UnixConn)
	if !is {
		return nil, errors.Join(errors.New("open socket of a mesh relay's orders: it is no Unix socket: tare itself starts the relay"), conn.Close())
	}
	return socket, nil
}

// Close ends the relay.
func (c *Control) Close() error { return c.conn.Close() }

// Add has the relay take the connections of a container. namespace is the descriptor of its
// network namespace; below 0: it is the relay's.
func (c *Control) Add(w Workload, namespace int) error {
	var rights []byte
	if namespace >= 0 {
		rights = unix.UnixRights(namespace)
	}
	return c.order(order{Add: &w}, rights)
}

// Drop has the relay take no more connections of a container.
func (c *Control) Drop(addr netip.Addr) error { return c.order(order{Drop: addr}, nil) }

func (c *Control) order(o order, rights []byte) error {
	text, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("order a mesh relay: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.conn.SetDeadline(time.Now().Add(dialWait)); err != nil {
		return fmt.Errorf("order a mesh relay: %w", err)
	}
	if _, _, err := c.conn.WriteMsgUnix(text, rights, nil); err != nil {
		return fmt.Errorf("order a mesh relay: %w: has its process ended?", err)
	}
	answer := make([]byte, mostOrder)
	n, err := c.conn.Read(answer)
	if err != nil {
		return fmt.Errorf("order a mesh relay: %w: has its process ended?", err)
	}
	if said := string(answer[:max(0, n-1)]); said != "" {
		return fmt.Errorf("order a mesh relay: %s", said)
	}
	return nil
}
