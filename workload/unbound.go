package workload

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"time"
)

const (
	// unboundReady is how long unbound may take to answer. Alone it takes some
	// milliseconds.
	unboundReady = 10 * time.Second
	// unboundTry is how long one answer may take: a query that was sent too early is
	// lost.
	unboundTry = 200 * time.Millisecond
)

// unbound is Debian's, with one zone for which it is the authority.
func unbound() Server {
	program := Program{Name: "unbound", Get: "apt-get install unbound", Version: []string{"-V"}}
	return Server{
		Name: program.Name, Program: program, Port: 5215,
		Start: func(ctx context.Context, p Place) (*Child, error) {
			path, err := program.Find()
			if err != nil {
				return nil, fmt.Errorf("find %s: %w: %s", program.Name, err, program.Get)
			}
			config := filepath.Join(p.Dir, "unbound.conf")
			if err := os.WriteFile(config, []byte(unboundConfig(p)), 0o644); err != nil {
				return nil, lackOfRoom(fmt.Errorf("configure %s: %w", program.Name, err))
			}
			c, err := startChild(p.Dir, nil, path, "-d", "-c", config)
			if err != nil {
				return nil, err
			}
			return c, c.await(ctx, unboundReady, func() error { return resolves(ctx, p.At) })
		},
	}
}

// unboundConfig has unbound's defaults, among them its single thread, but for what a lab
// asks for: it keeps its user and its root folder, writes no file, and answers any client,
// since only the lab reaches it. It asks no other server: all but the zone is refused, and
// the modules are those that need no keys.
func unboundConfig(p Place) string {
	return fmt.Sprintf(`server:
  interface: %[1]v@%[2]d
  directory: "%[3]s"
  chroot: ""
  username: ""
  pidfile: ""
  use-syslog: no
  do-tcp: no
  outgoing-range: 16
  module-config: "iterator"
  access-control: 0.0.0.0/0 allow
  access-control: ::0/0 allow
  local-zone: "." refuse
  local-zone: "%[4]s" static
  local-data: "%[4]s 3600 IN SOA %[5]s admin.%[4]s 1 3600 600 86400 60"
  local-data: "%[4]s 3600 IN NS %[5]s"
  local-data: "%[5]s 3600 IN A %[6]v"
remote-control:
  control-enable: no
`, p.At.Addr(), p.At.Port(), p.Dir, dnsZone, dnsName, dnsAddress())
}

// resolves asks for the address with Go's own resolver.
func resolves(ctx context.Context, at netip.AddrPort) error {
	ctx, cancel := context.WithTimeout(ctx, unboundTry)
	defer cancel()
	asker := net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", at.String())
	}}
	got, err := asker.LookupNetIP(ctx, "ip4", dnsName)
	if err != nil {
		return err
	}
	if len(got) != 1 || got[0].Unmap() != dnsAddress() {
		return errors.New("its zone has another address for the name that is asked for")
	}
	return nil
}
