package traffic

import (
	"crypto/tls"
	"encoding/binary"

	"golang.org/x/net/http2"
)

// jointConn is a server's connection of HTTP/2 that sends what goes ahead of data, its settings
// and the head of a response, together with the data. Else they are packets apart, of which
// Linux holds the second back while the first waits in a queue of this machine
// (net.ipv4.tcp_autocorking): a response would take the time of two round trips where the full
// queue is the sender's own, and of one where it is not.
type jointConn struct {
	*tls.Conn
	held   []byte
	frames webFrames
}

// Write sends all of p, or holds it where it has no data.
func (c *jointConn) Write(p []byte) (int, error) {
	if !c.frames.pass(p) {
		c.held = append(c.held, p...)
		return len(p), nil
	}
	if len(c.held) == 0 {
		return c.Conn.Write(p)
	}
	held := len(c.held)
	n, err := c.Conn.Write(append(c.held, p...))
	c.held = nil
	return max(n-held, 0), err
}

// webFrames follows the frames of HTTP/2 in what is written (RFC 9113, 4.1).
type webFrames struct {
	head    []byte // of a frame whose head is not whole yet
	payload int    // bytes of the frame under way that are to come
	data    bool   // which carries data
}

const frameHead = 9

// pass takes what is written next, and reports whether it has data.
func (f *webFrames) pass(p []byte) (data bool) {
	for len(p) > 0 {
		if f.payload > 0 {
			n := min(f.payload, len(p))
			data, f.payload, p = data || f.data, f.payload-n, p[n:]
			continue
		}
		n := min(frameHead-len(f.head), len(p))
		f.head, p = append(f.head, p[:n]...), p[n:]
		if len(f.head) == frameHead {
			f.payload = int(binary.BigEndian.Uint32(f.head) >> 8)
			f.data = http2.FrameType(f.head[3]) == http2.FrameData
			f.head = f.head[:0]
			data = data || f.data
		}
	}
	return data
}
