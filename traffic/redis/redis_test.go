package redis

import (
	"bufio"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"tare/test/labtest"
	"tare/test/traffictest"
	"tare/traffic"
)

func TestRedisIsChecked(t *testing.T) {
	for _, c := range []Options{
		{}, {Window: traffictest.ShortWindow, Mode: "incr"}, {Window: traffictest.ShortWindow, Connections: traffic.MaxFlows + 1},
		{Window: traffictest.ShortWindow, Size: -1}, {Window: traffictest.ShortWindow, Size: traffic.MaxBody + 1},
	} {
		if _, err := Call(t.Context(), traffictest.Loopback, c); err == nil {
			t.Errorf("%+v was called", c)
		}
	}
}

// TestRedisRefusesWrongResponses receives each in two parts, as a path may.
func TestRedisRefusesWrongResponses(t *testing.T) {
	_, ok := Options{Mode: Set, Size: 5}.exchange()
	_, value := Options{Mode: Get, Size: 5}.exchange()
	for _, c := range []struct {
		due, came, want string
	}{
		{string(value), string(value), ""},
		{string(ok), "+OK\r\n", ""},
		{string(value), "$-1\r\n", `answered "$-1" where "$5" was due`},
		{string(value), "$6\r\nabcd", `answered "$6" where "$5" was due`},
		{string(value), "+OK\r\n", `answered "+OK" where "$5" was due`},
		{string(value), ":5\r\n", `answered ":5" where`},
		{string(value), "-ERR max number of clients reached\r\n"[:11], "refused: ERR max nu"},
		{string(value), "$5\r\nabcde\r\n", "another than the one that was stored"},
		{string(value), string(value[:9]) + "xx", "another than the one that was stored"},
		{string(ok), "$5\r\n", `answered "$5" where "+OK" was due`},
		{string(ok), "-OOM", "refused: OOM"},
	} {
		d := dialogue{traffic.TCPDialogue{Response: make([]byte, len(c.due))}, []byte(c.due)}
		n := copy(d.Response, c.came)
		half := n / 2
		err := d.wrong(half)
		if err == nil {
			d.Got = half
			err = d.wrong(n - half)
		}
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%q: %v", c.came, err)
		case c.want != "" && err == nil:
			t.Errorf("%q was taken for %q", c.came, c.due)
		}
		d.Got = 0
		if err := d.wrong(n); c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q at once: %v, want %q", c.came, err, c.want)
		}
	}
}

// TestRedisEndsAtAWrongResponse asks a server that answers rightly for a while: an
// error, and no number.
func TestRedisEndsAtAWrongResponse(t *testing.T) {
	right := bulkString(string(traffic.RandomPayload(3)))
	for wrong, want := range map[string]string{
		"$-1\r\n":                `answered "$-1" where "$3" was due`,
		"-LOADING from disk\r\n": "refused: ",
		right + "+OK\r\n":        `answered "+OK" where "$3" was due`,
		"":                       "the peer closed the connection",
	} {
		at := answering(t, right, wrong)
		done, err := Call(t.Context(), at, Options{Window: traffic.Window{Duration: 5 * time.Second}, Connections: 2, Size: 3})
		if err == nil || !strings.Contains(err.Error(), want) || done.Count > 0 {
			t.Errorf("%q: %v, %d counted: want %q", wrong, err, done.Count, want)
		}
	}
	if _, err := Call(t.Context(), labtest.FreePort(t), Options{Window: traffictest.ShortWindow}); err == nil || !strings.Contains(err.Error(), "connection refused; see whether") {
		t.Errorf("nobody listens: %v", err)
	}
}

// answering is where a server gives each connection a hundred right responses and
// then a wrong one; empty: it closes.
func answering(t *testing.T, right, wrong string) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	serve := func(conn net.Conn) {
		defer conn.Close()
		in := bufio.NewReader(conn)
		for n := 0; ; n++ {
			for range 5 { // the lines of a GET
				if _, err := in.ReadString('\n'); err != nil {
					return
				}
			}
			answer := right
			if n == 100 {
				answer = wrong
			}
			if _, err := conn.Write([]byte(answer)); err != nil || answer == "" {
				return
			}
		}
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go serve(conn)
		}
	}()
	return l.Addr().(*net.TCPAddr).AddrPort()
}
