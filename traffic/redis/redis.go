// Package redis is the client of redis, requests of its protocol.
package redis

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"strconv"

	"tare/traffic"
)

// Mode is what is asked of a server of Redis's protocol.
type Mode string

// The modes.
const (
	Get Mode = "get" // the value is in the response
	Set Mode = "set" // the value is in the request
)

// Options are those of requests of Redis's protocol (RESP, version 2) for one value, one
// outstanding on each connection: a closed loop. All are on the same connections. The
// client owns the window.
type Options struct {
	Window      traffic.Window
	Mode        Mode // default Get
	Connections int  // default 10, at most 1024
	Size        int  // bytes of the value, at most MaxBody; default 1024
}

// stored is the response to a SET.
const stored = "+OK\r\n"

// checked fills the defaults in and refuses what can't be asked.
func (c Options) checked() (Options, error) {
	c.Mode = cmp.Or(c.Mode, Get)
	c.Connections = cmp.Or(c.Connections, traffic.DefaultConnections)
	c.Size = cmp.Or(c.Size, traffic.DefaultBody)
	switch {
	case c.Mode != Get && c.Mode != Set:
		return c, fmt.Errorf("mode %q: want %s or %s", c.Mode, Get, Set)
	case c.Connections < 1 || c.Connections > traffic.MaxFlows:
		return c, fmt.Errorf("%d connections: want 1 to %d", c.Connections, traffic.MaxFlows)
	case c.Size < 1 || c.Size > traffic.MaxBody:
		return c, fmt.Errorf("a value of %d bytes: want 1 to %d", c.Size, traffic.MaxBody)
	}
	return c, c.Window.Check(c.Connections)
}

// Value is a request that stores the value of so many bytes that Call asks
// for, under its key, and the response that is due.
func Value(size int) (request, response []byte) {
	return command("SET", key(size), string(traffic.RandomPayload(size))), []byte(stored)
}

func key(size int) string { return "tare:" + strconv.Itoa(size) }

// command is an array of bulk strings, which every request is.
func command(words ...string) []byte {
	text := fmt.Appendf(nil, "*%d\r\n", len(words))
	for _, word := range words {
		text = append(text, bulkString(word)...)
	}
	return text
}

func bulkString(text string) string {
	return "$" + strconv.Itoa(len(text)) + "\r\n" + text + "\r\n"
}

// exchange is a request, and the response that is due.
func (c Options) exchange() (request, response []byte) {
	if c.Mode == Set {
		return Value(c.Size)
	}
	return command("GET", key(c.Size)), []byte(bulkString(string(traffic.RandomPayload(c.Size))))
}

// Call runs one redis against a server that holds Value. Each response is
// compared with the one that is due, byte by byte: another is an error.
func Call(ctx context.Context, to netip.AddrPort, c Options) (_ traffic.Transactions, err error) {
	defer traffic.During(fmt.Sprintf("call redis at %v", to), &err)
	if c, err = c.checked(); err != nil {
		return traffic.Transactions{}, err
	}
	runtime.LockOSThread() // connections are opened in the namespace of this thread
	defer runtime.UnlockOSThread()
	r := traffic.StartRun(ctx)
	defer r.End()
	request, due := c.exchange()
	loops := make([]traffic.Loop, 0, c.Connections)
	defer func() {
		for _, l := range loops {
			traffic.Abort(l.FD) // which leaves its port to the next run
		}
	}()
	for range c.Connections {
		fd, err := traffic.Dial(r, to, "")
		if err != nil {
			return traffic.Transactions{}, fmt.Errorf("%w; see whether a server of Redis runs there and can be reached", err)
		}
		d := &dialogue{traffic.TCPDialogue{FD: fd, Request: request, Response: traffic.Buffer(len(due))}, due}
		loops = append(loops, traffic.Loop{FD: fd, Dialogue: d})
	}
	name, err := traffic.Congestion(loops[0].FD)
	if err != nil {
		return traffic.Transactions{}, err
	}
	t, err := traffic.Call(r, traffic.RequestResponse{Window: c.Window}, loops)
	if err != nil {
		return traffic.Transactions{}, err
	}
	t.Congestion = name
	return t, nil
}

// dialogue is a connection of redis.
type dialogue struct {
	traffic.TCPDialogue
	due []byte
}

func (d *dialogue) Receive(flags int) (bool, error) {
	n, errno := traffic.Receive(d.FD, d.Response[d.Got:], flags)
	if err := d.wrong(n); err != nil {
		return false, err
	}
	return d.Received(n, errno)
}

func (d *dialogue) Exchange(c *traffic.ClosedLoop, l *traffic.Loop) (bool, error) {
	for {
		n, errno := traffic.Receive(d.FD, d.Response[d.Got:], c.Flags)
		if err := d.wrong(n); err != nil {
			return false, err
		}
		if n < len(d.Response) || !c.Pass(l, c.Run.Now()) {
			return d.Received(n, errno)
		}
		if err := traffic.SendAll(c.Run, d.FD, d.Request); err != nil {
			return false, err
		}
	}
}

// wrong is the error of a response that is not the one that is due; n bytes of it
// have just been received.
func (d *dialogue) wrong(n int) error {
	end := d.Got + n
	if bytes.Equal(d.Response[d.Got:end], d.due[d.Got:end]) {
		return nil
	}
	const enough = 80 // for the text of an error
	came := d.Response[:end]
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
