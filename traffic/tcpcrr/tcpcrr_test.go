package tcpcrr

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tare/test/labtest"
	"tare/test/traffictest"
	"tare/traffic"
)

// A namespace with twenty ports to connect from, and many more
// connections: they fit only if the client's ports are free at once.
func TestLabTCPCRRDoesNotRunOutOfPorts(t *testing.T) { traffictest.RunInNamespace(t) }

func checkFewPorts() error {
	const ports = 20
	l, err := traffictest.OnFewPorts()
	if err != nil {
		return err
	}
	c := traffic.RequestResponse{Token: traffictest.Token, Window: traffic.Window{Duration: 300 * time.Millisecond}}
	for answered := int64(0); answered < 3*ports; { // fewer show nothing
		served, calls, serveErr, callErr := traffictest.Ends(
			func(ctx context.Context) (traffic.Served, error) { return Serve(ctx, l, c) },
			func(ctx context.Context) (traffic.Transactions, error) { return Call(ctx, l.Addr(), c) })
		if serveErr != nil || callErr != nil {
			return fmt.Errorf("serving end: %w; calling end: %w", serveErr, callErr)
		}
		if len(calls.Failures) > 0 || served.Transactions == 0 {
			return fmt.Errorf("%d connections, and failures %v", calls.Count, calls.Failures)
		}
		answered += served.Transactions
	}
	if again, err := tcpCounter("TCPSynRetrans"); err != nil || again > 0 {
		return fmt.Errorf("%d SYNs were sent again, %w", again, err)
	}
	return checkNoPortLeft(l.Addr(), c, ports)
}

// checkNoPortLeft takes every port first: the run ends by itself, and reports why.
func checkNoPortLeft(to netip.AddrPort, c traffic.RequestResponse, ports int) error {
	for range ports {
		conn, err := net.Dial("tcp", to.String())
		if err != nil {
			return err
		}
		defer conn.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), labtest.Generous)
	defer cancel()
	c.Window.Duration = time.Hour
	if _, err := Call(ctx, to, c); !errors.Is(err, traffic.ErrPortsUsed) {
		return fmt.Errorf("without a port the run ended with: %w", err)
	}
	return nil
}

// tcpCounter reads a counter of TCP in this thread's namespace (RFC 4022, and Linux's own).
func tcpCounter(name string) (int64, error) {
	var lines []string
	for _, file := range []string{"snmp", "netstat"} {
		text, err := os.ReadFile("/proc/thread-self/net/" + file)
		if err != nil {
			return 0, err
		}
		lines = append(lines, strings.Split(strings.TrimSpace(string(text)), "\n")...)
	}
	for n := 0; n+1 < len(lines); n += 2 { // names, then values
		names, values := strings.Fields(lines[n]), strings.Fields(lines[n+1])
		if i := slices.Index(names, name); i > 0 && strings.HasPrefix(names[0], "Tcp") {
			return strconv.ParseInt(values[i], 10, 64)
		}
	}
	return 0, fmt.Errorf("the kernel counts no %s", name)
}

// neper and ethr end their connections by RST without saying so, which saves
// the handshake of the end. Here it is a separate mode.
func TestLabNeperClosesByReset(t *testing.T) {
	for _, reset := range []bool{false, true} {
		p := traffictest.NewPath(t)
		c := traffic.RequestResponse{Token: traffictest.Token, Window: traffictest.ShortWindow, Reset: reset}
		var calls traffic.Transactions
		var serveErr, callErr error
		var resets int64
		var l *traffic.Listener
		p.Far.In(t, func() { l, serveErr = traffic.ListenTCP(p.To) })
		if serveErr != nil {
			t.Fatal(serveErr)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			p.Far.In(t, func() { _, serveErr = Serve(t.Context(), l, c) })
		}()
		p.Near.In(t, func() {
			calls, callErr = Call(t.Context(), l.Addr(), c)
			var err error
			resets, err = tcpCounter("OutRsts")
			callErr = errors.Join(callErr, err)
		})
		<-done
		serveErr = errors.Join(serveErr, l.Close())
		if serveErr != nil || callErr != nil {
			t.Fatalf("serving end: %v; driving end: %v", serveErr, callErr)
		}
		if reset {
			labtest.AtLeast(t, "resets", resets, calls.Count)
		} else {
			labtest.Equal(t, "resets of connections that are closed without one", resets, 0)
		}
	}
}
