package workload

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strconv"
	"time"

	"tare/traffic/redis"
)

const (
	// redisReady is how long Redis may take to answer. Alone it takes some
	// milliseconds.
	redisReady = 10 * time.Second
	// redisTry is how long one answer may take: what else holds its port may never
	// answer.
	redisTry = time.Second
)

// redisServer is Debian's Redis with one value for each size that is asked for.
func redisServer() Server {
	program := Program{Name: "redis-server", Get: "apt-get install redis-server", Version: []string{"--version"}}
	return Server{
		Name: program.Name, Program: program, Port: 5214,
		Start: func(ctx context.Context, p Place) (*Child, error) {
			path, err := program.Find()
			if err != nil {
				return nil, fmt.Errorf("find %s: %w: %s", program.Name, err, program.Get)
			}
			c, err := startChild(p.Dir, nil, path, redisArguments(p)...)
			if err != nil {
				return nil, err
			}
			return c, c.await(ctx, redisReady, func() error { return askRedis(p.At, []byte("PING\r\n"), []byte("+PONG\r\n")) })
		},
		Prepare: func(_ context.Context, p Place, run Run) error {
			request, response := redis.Value(run.Size)
			if err := askRedis(p.At, request, response); err != nil {
				return fmt.Errorf("store a value of %d bytes: %w; see what the server logged", run.Size, err)
			}
			return nil
		},
	}
}

// redisArguments are Redis's own defaults but for what a lab asks for: it writes no
// file, and any client may ask, since only the lab reaches it.
func redisArguments(p Place) []string {
	return []string{
		"--bind", p.At.Addr().String(), "--port", strconv.Itoa(int(p.At.Port())), "--protected-mode", "no",
		"--daemonize", "no", "--dir", p.Dir, "--save", "", "--appendonly", "no",
	}
}

// askRedis sends one request, and takes no response but the one that is due.
func askRedis(at netip.AddrPort, request, due []byte) error {
	conn, err := net.DialTimeout("tcp", at.String(), redisTry)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(redisTry)); err != nil {
		return err
	}
	if _, err := conn.Write(request); err != nil {
		return err
	}
	came := make([]byte, len(due))
	n, err := io.ReadFull(conn, came)
	if n > 0 && string(came[:n]) != string(due) {
		return fmt.Errorf("it answered %q, not %q", came[:n], due)
	}
	return err
}
