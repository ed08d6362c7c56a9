package http

import "bytes"

// request is what the server of http evaluates in a request.
type request struct {
	known  bool // it has the run's token
	ends   bool // it is the last one of the run
	closes bool // the connection ends with it
}

// readRequest reads the header of one request, its empty line included.
// What is not a request without a body has no token either.
func readRequest(head []byte, token []byte) request {
	line, rest, _ := bytes.Cut(head, []byte{'\n'})
	line = bytes.TrimSuffix(line, []byte{'\r'})
	r := request{
		ends:   bytes.HasPrefix(line, []byte(endMethod+" ")),
		closes: !bytes.HasSuffix(line, []byte(" HTTP/1.1")),
	}
	if !r.ends && !bytes.HasPrefix(line, []byte("GET ")) {
		return request{closes: true}
	}
	for len(rest) > 0 {
		line, rest, _ = bytes.Cut(rest, []byte{'\n'})
		name, value, _ := bytes.Cut(line, []byte{':'})
		value = bytes.TrimSpace(value)
		switch {
		case bytes.EqualFold(name, []byte(tokenHeader)):
			r.known = bytes.EqualFold(value, token)
		case bytes.EqualFold(name, connectionHeader):
			r.closes = r.closes || hasToken(value, []byte("close"))
		case bytes.EqualFold(name, contentLength), bytes.EqualFold(name, transferEncoding):
			return request{closes: true}
		}
	}
	r.closes = r.closes || r.ends || !r.known
	return r
}
