package traffic

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"strconv"
)

// RedisMode is what is asked of a server of Redis's protocol.
type RedisMode string

// The modes.
const (
	RedisGet RedisMode = "get" // the value is in the response
	RedisSet RedisMode = "set" // the value is in the request
)

// Redis is requests of Redis's protocol (RESP, version 2) for one value, one
// outstanding on each connection: a closed loop. All are on the same connections. The
// client owns the window.
type Redis struct {
	Window      Window
	Mode        RedisMode // default RedisGet
	Connections int       // default 10, at most 1024
	Size        int       // bytes of the value, at most MaxBody; default 1024
}

// redisStored is the response to a SET.
const redisStored = "+OK\r\n"

// checked fills the defaults in and refuses what can't be asked.
func (c Redis) checked() (Redis, error) {
	c.Mode = cmp.Or(c.Mode, RedisGet)
	c.Connections = cmp.Or(c.Connections, defaultConnections)
	c.Size = cmp.Or(c.Size, defaultBody)
	switch {
	case c.Mode != RedisGet && c.Mode != RedisSet:
		return c, fmt.Errorf("mode %q: want %s or %s", c.Mode, RedisGet, RedisSet)
	case c.Connections < 1 || c.Connections > maxFlows:
		return c, fmt.Errorf("%d connections: want 1 to %d", c.Connections, maxFlows)
	case c.Size < 1 || c.Size > MaxBody:
		return c, fmt.Errorf("a value of %d bytes: want 1 to %d", c.Size, MaxBody)
	}
	return c, c.Window.check(c.Connections)
}

// RedisValue is a request that stores the value of so many bytes that CallRedis asks
// for, under its key, and the response that is due.
func RedisValue(size int) (request, response []byte) {
	return redisCommand("SET", redisKey(size), string(randomBytes(size))), []byte(redisStored)
}

func redisKey(size int) string { return "tare:" + strconv.Itoa(size) }

// redisCommand is an array of bulk strings, which every request is.
func redisCommand(words ...string) []byte {
	text := fmt.Appendf(nil, "*%d\r\n", len(words))
	for _, word := range words {
		text = append(text, redisBulk(word)...)
	}
	return text
}

func redisBulk(text string) string {
	return "$" + strconv.Itoa(len(text)) + "\r\n" + text + "\r\n"
}

// exchange is a request, and the response that is due.
func (c Redis) exchange() (request, response []byte) {
	if c.Mode == RedisSet {
		return RedisValue(c.Size)
	}
	return redisCommand("GET", redisKey(c.Size)), []byte(redisBulk(string(randomBytes(c.Size))))
}

// CallRedis runs one redis against a server that holds RedisValue. Each response is
// compared with the one that is due, byte by byte: another is an error.
func CallRedis(ctx context.Context, to netip.AddrPort, c Redis) (_ Transactions, err error) {
	defer during(fmt.Sprintf("call redis at %v", to), &err)
	if c, err = c.checked(); err != nil {
		return Transactions{}, err
	}
	runtime.LockOSThread() // connections are opened in the namespace of this thread
	defer runtime.UnlockOSThread()
	r := startRun(ctx)
	defer r.end()
	request, due := c.exchange()
	loops := make([]loop, 0, c.Connections)
	defer func() {
		for _, l := range loops {
			abort(l.fd) // which leaves its port to the next run
		}
	}()
	for range c.Connections {
		fd, err := dial(r, to, "")
		if err != nil {
			return Transactions{}, fmt.Errorf("%w; see whether a server of Redis runs there and can be reached", err)
		}
		d := &redisDialogue{tcpDialogue{fd: fd, request: request, response: prefaulted(len(due))}, due}
		loops = append(loops, loop{fd: fd, dialogue: d})
	}
	name, err := congestion(loops[0].fd)
	if err != nil {
		return Transactions{}, err
	}
	t, err := call(r, RequestResponse{Window: c.Window}, loops)
	if err != nil {
		return Transactions{}, err
	}
	t.Congestion = name
	return t, nil
}

// redisDialogue is a connection of redis.
type redisDialogue struct {
	tcpDialogue
	due []byte
}

func (d *redisDialogue) receive(flags int) (bool, error) {
	n, errno := recv(d.fd, d.response[d.got:], flags)
	if err := d.wrong(n); err != nil {
		return false, err
	}
	return d.received(n, errno)
}

func (d *redisDialogue) exchange(c *closedLoop, l *loop) (bool, error) {
	for {
		n, errno := recv(d.fd, d.response[d.got:], c.flags)
		if err := d.wrong(n); err != nil {
			return false, err
		}
		if n < len(d.response) || !c.pass(l, c.run.now()) {
			return d.received(n, errno)
		}
		if err := sendAll(c.run, d.fd, d.request); err != nil {
			return false, err
		}
	}
}

// wrong is the error of a response that is not the one that is due; n bytes of it
// have just been received.
func (d *redisDialogue) wrong(n int) error {
	end := d.got + n
	if bytes.Equal(d.response[d.got:end], d.due[d.got:end]) {
		return nil
	}
	const enough = 80 // for the text of an error
	came := d.response[:end]
	line, _, _ := bytes.Cut(came[:min(end, enough)], []byte("\r\n"))
	if len(line) > 0 && line[0] == '-' {
		return fmt.Errorf("the server refused: %s", line[1:])
	}
	header, _, _ := bytes.Cut(d.due, []byte("\r\n"))
	if bytes.Equal(line, header) {
		return errors.New("the server's value is another than the one that was stored")
	}
	return fmt.Errorf("the server answered %q where %q was due", line, header)
}
