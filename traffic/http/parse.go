package http

import (
	"bytes"
	"errors"
	"fmt"
)

// parser reads responses to GET requests of HTTP/1.0 and 1.1 (RFC 9112),
// in pieces that may be split anywhere. The zero value waits for a response.
type parser struct {
	state   state
	part    [maxHTTPLine]byte // what has come of a line
	partLen int               // its whole length; what has no room in part is cut off
	head    int               // bytes of lines since the response or the last chunk began

	status  int
	old     bool  // HTTP/1.0
	closes  bool  // Connection: close
	persist bool  // Connection: keep-alive
	coded   bool  // there is a Transfer-Encoding
	chunked bool  // and the last one is chunked
	length  int64 // Content-Length; -1: none
	left    int64 // bytes of the body or of the chunk that still have to come
	size    int64 // bytes of the response, header and interim responses included
}

type state int

const (
	atStatus state = iota
	atHeader
	inBody
	atChunkSize
	inChunk
	atChunkEnd
	atTrailer
	untilClose // the body ends with the connection
)

const (
	// maxHTTPLine is how much of a header line is looked at: the lines that
	// define where a response ends are shorter.
	maxHTTPLine = 256
	maxHTTPHead = 64 << 10
)

// reset makes the parser wait for the next response.
func (p *parser) reset() {
	p.state, p.partLen, p.head, p.size = atStatus, 0, 0, 0
}

// keeps reports whether the connection can carry another request after a whole
// response (RFC 9112, 9.3).
func (p *parser) keeps() bool {
	delimited := p.state != untilClose && !(p.coded && p.length >= 0)
	return delimited && !p.closes && (!p.old || p.persist)
}

// feed takes the bytes that came next. It gives those after the response, once
// that is whole.
func (p *parser) feed(b []byte) (rest []byte, whole bool, err error) {
	came := len(b)
	for len(b) > 0 && !whole && err == nil {
		switch p.state {
		case inBody, inChunk:
			n := min(p.left, int64(len(b)))
			b = b[n:]
			if p.left -= n; p.left > 0 {
				break
			}
			if whole = p.state == inBody; !whole {
				p.state = atChunkEnd
			}
		case untilClose:
			b = nil
		default:
			var line []byte
			var cut, ended bool
			line, b, cut, ended = p.cutLine(b)
			switch {
			case ended:
				whole, err = p.take(line, cut)
			case p.state == atStatus && !bytes.HasPrefix(p.part[:], httpVersion[:min(p.partLen, len(httpVersion))]):
				err = errNoStatus // a server of something else may never end its line
			}
			if p.head > maxHTTPHead && err == nil {
				err = fmt.Errorf("a header of more than %d bytes", maxHTTPHead)
			}
		}
	}
	p.size += int64(came - len(b))
	return b, whole, err
}

// cutLine cuts the first line off b, without its end. Of a long one it gives
// the beginning only.
func (p *parser) cutLine(b []byte) (line, rest []byte, cut, ended bool) {
	end := bytes.IndexByte(b, '\n')
	ended = end >= 0
	line, rest = b, nil
	if ended {
		line, rest = b[:end], b[end+1:]
	}
	p.head += len(b) - len(rest)
	length := p.partLen + len(line)
	if p.partLen > 0 || !ended {
		if p.partLen < len(p.part) {
			copy(p.part[p.partLen:], line)
		}
		if p.partLen = length; !ended {
			return nil, nil, false, false
		}
		line, p.partLen = p.part[:min(length, len(p.part))], 0
	}
	if length > maxHTTPLine {
		return line[:maxHTTPLine], rest, true, true
	}
	return bytes.TrimSuffix(line, []byte{'\r'}), rest, false, true
}

// take takes a line, and reports whether the response is whole with it.
func (p *parser) take(line []byte, cut bool) (whole bool, err error) {
	switch p.state {
	case atStatus:
		return false, p.takeStatus(line)
	case atHeader:
		if len(line) > 0 {
			return false, p.takeHeader(line, cut)
		}
		return p.takeHeaderEnd()
	case atChunkSize:
		return false, p.takeChunkSize(line)
	case atChunkEnd:
		if len(line) > 0 {
			return false, errors.New("a chunk that is longer than its size")
		}
		p.state, p.head = atChunkSize, 0
	case atTrailer:
		return len(line) == 0, nil
	}
	return false, nil
}

var (
	httpVersion = []byte("HTTP/1.")
	errNoStatus = errors.New("no status line of HTTP/1")
)

// takeStatus reads "HTTP/1.1 200 OK".
func (p *parser) takeStatus(line []byte) error {
	const least = len("HTTP/1.1 200")
	wrong := len(line) < least || !bytes.HasPrefix(line, httpVersion) || line[8] != ' ' ||
		len(line) > least && line[least] != ' '
	if wrong || line[7] < '0' || line[7] > '9' {
		return errNoStatus
	}
	status, ok := decimal(line[9:least])
	if !ok || status < 100 || status > 999 {
		return errors.New("a status that is no number from 100 to 999")
	}
	p.state = atHeader
	p.status, p.old = int(status), line[7] == '0'
	p.closes, p.persist, p.coded, p.chunked, p.length = false, false, false, false, -1
	return nil
}

var (
	contentLength    = []byte("content-length")
	transferEncoding = []byte("transfer-encoding")
	connectionHeader = []byte("connection")
)

// takeHeader evaluates the lines that define where the response ends and whether
// the connection stays open.
func (p *parser) takeHeader(line []byte, cut bool) error {
	colon := bytes.IndexByte(line, ':')
	if colon < 1 && !cut || bytes.IndexByte(line[:max(colon, 1)], ' ') >= 0 || line[0] == '\t' {
		return errors.New("a header line that is none")
	}
	if colon < 0 {
		return nil
	}
	name, value := line[:colon], bytes.Trim(line[colon+1:], " \t")
	known := true
	switch {
	case colon == len(contentLength) && bytes.EqualFold(name, contentLength):
		n, ok := decimal(value)
		if !ok || p.length >= 0 && p.length != n {
			return errors.New("a Content-Length that is no number, or two that differ")
		}
		p.length = n
	case colon == len(transferEncoding) && bytes.EqualFold(name, transferEncoding):
		p.coded = true
		last := value[bytes.LastIndexByte(value, ',')+1:]
		p.chunked = bytes.EqualFold(bytes.Trim(last, " \t"), []byte("chunked"))
	case colon == len(connectionHeader) && bytes.EqualFold(name, connectionHeader):
		p.closes = p.closes || hasToken(value, []byte("close"))
		p.persist = p.persist || hasToken(value, []byte("keep-alive"))
	default:
		known = false
	}
	if known && cut {
		return fmt.Errorf("a header line of more than %d bytes that the client must evaluate", maxHTTPLine)
	}
	return nil
}

// takeHeaderEnd decides where the body ends (RFC 9112, 6.3).
func (p *parser) takeHeaderEnd() (whole bool, err error) {
	switch {
	case p.status == 101:
		return false, errors.New("another protocol (status 101)")
	case p.status < 200: // an interim response: the final one follows
		p.state = atStatus
	case p.status == 204 || p.status == 304:
		p.state = atStatus
		return true, nil
	case p.coded && p.chunked:
		p.state, p.head = atChunkSize, 0
	case p.coded || p.length < 0:
		p.state = untilClose
	default:
		p.state, p.left = inBody, p.length
		return p.length == 0, nil
	}
	return false, nil
}

// takeChunkSize reads "1a2b" or "1a2b;extension".
func (p *parser) takeChunkSize(line []byte) error {
	if semicolon := bytes.IndexByte(line, ';'); semicolon >= 0 {
		line = line[:semicolon]
	}
	line = bytes.TrimRight(line, " \t")
	const most = 15 // digits that fit an int64
	if len(line) == 0 || len(line) > most {
		return errors.New("a chunk size that is no number")
	}
	p.left = 0
	for _, c := range line {
		digit := hexDigit(c)
		if digit < 0 {
			return errors.New("a chunk size that is no number")
		}
		p.left = p.left<<4 + int64(digit)
	}
	if p.state = inChunk; p.left == 0 {
		p.state = atTrailer
	}
	return nil
}

// decimal reads up to 18 digits and nothing else.
func decimal(b []byte) (n int64, ok bool) {
	if len(b) == 0 || len(b) > 18 {
		return 0, false
	}
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// hasToken reports whether a comma list holds the token, in any case.
func hasToken(list, token []byte) bool {
	for len(list) > 0 {
		var each []byte
		each, list, _ = bytes.Cut(list, []byte{','})
		if bytes.EqualFold(bytes.Trim(each, " \t"), token) {
			return true
		}
	}
	return false
}
