package http

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// parsedResponse is what the parser made of one response.
type parsedResponse struct {
	status int
	size   int64
	keeps  bool
}

// hearAll feeds pieces of one connection, then its end, and gives the
// responses up to the first one after which nothing can follow.
func parseAll(pieces [][]byte) (parsed []parsedResponse, err error) {
	var p parser
	for _, piece := range pieces {
		for len(piece) > 0 {
			rest, whole, err := p.feed(piece)
			if err != nil {
				return parsed, err
			}
			if !whole {
				break
			}
			parsed = append(parsed, parsedResponse{p.status, p.size, p.keeps()})
			if !p.keeps() {
				return parsed, nil
			}
			piece = rest
			p.reset()
		}
	}
	if p.state == untilClose {
		parsed = append(parsed, parsedResponse{p.status, p.size, p.keeps()})
	} else if p.size > 0 {
		err = io.ErrUnexpectedEOF
	}
	return parsed, err
}

func TestHTTPParser(t *testing.T) {
	long := strings.Repeat("x", 300)
	for name, test := range map[string]struct {
		text string
		want []parsedResponse
		err  string
	}{
		"length":                     {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", []parsedResponse{{200, 43, true}}, ""},
		"bare line feeds":            {"HTTP/1.1 200 OK\nContent-Length: 5\n\nhello", []parsedResponse{{200, 40, true}}, ""},
		"no reason":                  {"HTTP/1.1 200\r\ncontent-length:\t0 \r\n\r\n", []parsedResponse{{200, 36, true}}, ""},
		"two":                        {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\naHTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n", []parsedResponse{{200, 39, true}, {404, 38, true}}, ""},
		"204 has no body":            {"HTTP/1.1 204 No Content\r\nContent-Length: 9\r\n\r\n", []parsedResponse{{204, 46, true}}, ""},
		"304 has no body":            {"HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n", []parsedResponse{{304, 57, true}}, ""},
		"1xx comes before":           {"HTTP/1.1 100 Continue\r\nConnection: close\r\n\r\nHTTP/1.1 103 Early\r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", []parsedResponse{{200, 113, true}}, ""},
		"chunked":                    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nwiki\r\nA;x=1\r\n0123456789\r\n0\r\n\r\n", []parsedResponse{{200, 80, true}}, ""},
		"trailer":                    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n1\r\nx\r\n0\r\nContent-Length: 5\r\n\r\n", []parsedResponse{{200, 83, true}}, ""},
		"chunked wins":               {"HTTP/1.1 200 OK\r\nContent-Length: 99\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", []parsedResponse{{200, 72, false}}, ""},
		"coded without chunks":       {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: gzip\r\n\r\nabc", []parsedResponse{{200, 66, false}}, ""},
		"close":                      {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: Upgrade, Close\r\n\r\n", []parsedResponse{{200, 66, false}}, ""},
		"until close":                {"HTTP/1.1 200 OK\r\n\r\nall of it", []parsedResponse{{200, 28, false}}, ""},
		"1.0":                        {"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", []parsedResponse{{200, 38, false}}, ""},
		"1.0 that stays":             {"HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n", []parsedResponse{{200, 62, true}}, ""},
		"same length twice":          {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na", []parsedResponse{{200, 58, true}}, ""},
		"long lines without meaning": {"HTTP/1.1 200 OK\r\nCookie: " + long + "\r\n" + long + "\r\nContent-Length: 0\r\n\r\n", []parsedResponse{{200, 650, true}}, ""},

		"nothing":                {"", nil, ""},
		"SSH":                    {"SSH-2.0-OpenSSH_9.2\r\n", nil, "no status line"},
		"HTTP/2":                 {"HTTP/2.0 200 OK\r\n\r\n", nil, "no status line"},
		"short status":           {"HTTP/1.1 20\r\n\r\n", nil, "no status line"},
		"long status":            {"HTTP/1.1 2000 OK\r\n\r\n", nil, "no status line"},
		"status of letters":      {"HTTP/1.1 2x0 OK\r\n\r\n", nil, "no number"},
		"status below 100":       {"HTTP/1.1 099 OK\r\n\r\n", nil, "no number"},
		"101":                    {"HTTP/1.1 101 Switching\r\n\r\n", nil, "another protocol"},
		"no colon":               {"HTTP/1.1 200 OK\r\nContent-Length\r\n\r\n", nil, "that is none"},
		"blank before colon":     {"HTTP/1.1 200 OK\r\nContent-Length : 5\r\n\r\n", nil, "that is none"},
		"folded":                 {"HTTP/1.1 200 OK\r\nA: b\r\n c: d\r\n\r\n", nil, "that is none"},
		"negative length":        {"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", nil, "Content-Length"},
		"length list":            {"HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\n", nil, "Content-Length"},
		"two lengths":            {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", nil, "two that differ"},
		"huge length":            {"HTTP/1.1 200 OK\r\nContent-Length: 9999999999999999999\r\n\r\n", nil, "Content-Length"},
		"long line with meaning": {"HTTP/1.1 200 OK\r\nConnection: " + long + ", close\r\n\r\n", nil, "more than 256 bytes"},
		"endless header":         {"HTTP/1.1 200 OK\r\n" + strings.Repeat("A: "+long+"\r\n", 300), nil, "header of more than"},
		"endless line":           {"HTTP/1.1 200 OK\r\nA: " + strings.Repeat(long, 300), nil, "header of more than"},
		"chunk size":             {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n", nil, "chunk size"},
		"chunk size letters":     {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0x5\r\n", nil, "chunk size"},
		"huge chunk":             {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n", nil, "chunk size"},
		"long chunk":             {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", nil, "longer than its size"},
		"cut off":                {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", nil, "unexpected EOF"},
	} {
		parsed, err := parseAll([][]byte{[]byte(test.text)})
		if fmt.Sprint(parsed) != fmt.Sprint(test.want) || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: %v, %v; want %v, %q", name, parsed, err, test.want, test.err)
		}
	}
}

// splits cuts b at random places.
func splits(b []byte, seed uint64) [][]byte {
	random := rand.New(rand.NewPCG(seed, 1))
	longest := 1 + random.IntN(40)
	var pieces [][]byte
	for len(b) > 0 {
		n := min(len(b), 1+random.IntN(longest))
		pieces = append(pieces, bytes.Clone(b[:n]))
		b = b[n:]
	}
	return pieces
}

// FuzzHTTPParser holds that where the bytes are split makes no difference.
func FuzzHTTPParser(f *testing.F) {
	for _, seed := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1 204 No\r\n\r\n",
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nA;x\r\n0123456789\r\n0\r\nT: x\r\n\r\n",
		"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n\r\nuntil the end",
		"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 250) + "\r\n\r\n",
		"HTTP/1.1 200 OK\r\nConnection:" + strings.Repeat(" ", 244) + "\r\r\n\r\n",
		"SSH-2.0-OpenSSH_9.2\r\n",
	} {
		f.Add([]byte(seed), uint64(7))
	}
	f.Fuzz(func(t *testing.T, text []byte, seed uint64) {
		whole, wholeErr := parseAll([][]byte{text})
		split, splitErr := parseAll(splits(text, seed))
		if fmt.Sprint(whole) != fmt.Sprint(split) || (wholeErr == nil) != (splitErr == nil) {
			t.Errorf("whole: %v, %v; split: %v, %v", whole, wholeErr, split, splitErr)
		}
	})
}

// TestHTTPParserAgrees holds the parser against the standard library's, over
// responses that this one wrote.
func TestHTTPParserAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.SliceOfN(rapid.Byte(), 0, 3000).Draw(t, "body")
		response := http.Response{
			ProtoMajor: 1, ProtoMinor: rapid.IntRange(0, 1).Draw(t, "minor"),
			StatusCode: rapid.SampledFrom([]int{200, 201, 204, 304, 404, 500}).Draw(t, "status"),
			Close:      rapid.Bool().Draw(t, "close"), Body: io.NopCloser(bytes.NewReader(body)),
			ContentLength: int64(len(body)),
		}
		if rapid.Bool().Draw(t, "chunked") {
			response.ContentLength, response.TransferEncoding = -1, []string{"chunked"}
		}
		if response.StatusCode == 204 || response.StatusCode == 304 {
			response.Body, response.ContentLength, response.TransferEncoding = http.NoBody, 0, nil
		}
		var text bytes.Buffer
		if err := response.Write(&text); err != nil {
			t.Fatal(err)
		}
		read, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(text.Bytes())), nil)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := parseAll(splits(text.Bytes(), rapid.Uint64().Draw(t, "splits")))
		want := parsedResponse{read.StatusCode, int64(text.Len()), !read.Close}
		if err != nil || len(parsed) != 1 || parsed[0] != want {
			t.Fatalf("%q: %v, %v; want %v", text.String(), parsed, err, want)
		}
	})
}
