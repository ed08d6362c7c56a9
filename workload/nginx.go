package workload

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// nginxReady is how long nginx may take to answer, and for one answer.
const nginxReady = 10 * time.Second

// nginx is Debian's, as its package configures it, with what a measurement
// needs.
func nginx() Server {
	program := Program{Name: "nginx", Get: "apt-get install nginx-light", Version: []string{"-v"}}
	return Server{
		Name: "nginx", Program: program, Port: 5212,
		Start: func(ctx context.Context, p Place) (*Child, error) {
			path, err := program.Find()
			if err != nil {
				return nil, fmt.Errorf("find nginx: %w: %s", err, program.Get)
			}
			config := filepath.Join(p.Dir, "nginx.conf")
			err = errors.Join(os.WriteFile(config, []byte(nginxConfig(p.At)), 0o644), os.Mkdir(filepath.Join(p.Dir, nginxRoot), 0o755))
			if err != nil {
				return nil, lackOfRoom(fmt.Errorf("configure nginx: %w", err))
			}
			c, err := startChild(p.Dir, nil, path, "-p", p.Dir, "-c", config)
			if err != nil {
				return nil, err
			}
			return c, c.await(ctx, nginxReady, func() error { return answers(p.At) })
		},
		Prepare: func(_ context.Context, p Place, run Run) error {
			return writeBody(filepath.Join(p.Dir, nginxRoot, bodyPath(run.Size)), run.Size)
		},
	}
}

// nginxRoot is the folder of the bodies below a server's own.
const nginxRoot = "bodies"

// nginxConfig has the settings of Debian's package (sendfile, tcp_nopush), one
// worker, which has its host's CPUs, and connections that last. Every path is
// below the server's folder. Its user is root, the only one in the lab of an
// ordinary user.
func nginxConfig(at netip.AddrPort) string {
	return fmt.Sprintf(`user root;
worker_processes 1;
worker_rlimit_nofile 4096;
daemon off;
pid nginx.pid;
lock_file nginx.lock;
error_log stderr notice;
events { worker_connections 4096; }
http {
  access_log off;
  sendfile on;
  tcp_nopush on;
  tcp_nodelay on;
  keepalive_requests 1000000000;
  client_body_temp_path temp;
  proxy_temp_path temp;
  fastcgi_temp_path temp;
  uwsgi_temp_path temp;
  scgi_temp_path temp;
  default_type application/octet-stream;
  server {
    listen %s backlog=1024;
    root %s;
  }
}
`, at, nginxRoot)
}

// bodyPath is where a server has a body of so many bytes.
func bodyPath(size int) string { return "/" + strconv.Itoa(size) }

// writeBody writes a file of random bytes, which nothing on the way can
// compress, unless it is there.
func writeBody(path string, size int) error {
	_, err := os.Stat(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	body := make([]byte, size)
	if _, err := rand.Read(body); err != nil {
		return fmt.Errorf("draw body: %w", err)
	}
	if err := os.WriteFile(path, body, 0o644); err != nil { // half a body is none
		return lackOfRoom(errors.Join(fmt.Errorf("write body: %w", err), os.Remove(path)))
	}
	return nil
}

// lackOfRoom adds what to do where an error is that of a full disk.
func lackOfRoom(err error) error {
	if errors.Is(err, unix.ENOSPC) {
		return fmt.Errorf("%w: the folder is in memory: free some, or ask for less", err)
	}
	return err
}

// answers asks for nothing in particular: any answer of HTTP will do.
func answers(at netip.AddrPort) error {
	conn, err := net.DialTimeout("tcp", at.String(), nginxReady)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(nginxReady)); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(conn, "HEAD / HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", at); err != nil {
		return err
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err == nil && !strings.HasPrefix(line, "HTTP/1.1 ") {
		err = fmt.Errorf("it answered %q", line)
	}
	return err
}
