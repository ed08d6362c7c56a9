package real

import (
	"bufio"
	"bytes"
	wire "encoding/binary"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// front is what is before an API server, as a proxy or a load balancer is. It has the rights of
// the user.
type front struct {
	noWebSocket bool
	lossy       string      // the pod whose streams lose bytes
	losing      atomic.Bool // from now on
	spdy        atomic.Int64
}

// before starts a front, and gives the cluster as it is reached through it.
func (c cluster) before(f *front) cluster {
	c.t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", c.kubeconfig)
	if err != nil {
		c.t.Fatal(err)
	}
	tls, err := rest.TLSConfigFor(config)
	if err != nil {
		c.t.Fatal(err)
	}
	at, err := url.Parse(config.Host)
	if err != nil {
		c.t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(at)
			r.Out.Header.Set("Authorization", "Bearer "+config.BearerToken) // clients send none without TLS
		},
		Transport:      &http.Transport{TLSClientConfig: tls}, // HTTP/1.1, in which connections are upgraded
		ModifyResponse: f.modify,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		upgrade := strings.ToLower(r.Header.Get("Upgrade"))
		if f.noWebSocket && upgrade == "websocket" {
			http.Error(w, "no WebSocket here", http.StatusForbidden)
			return
		}
		if strings.HasPrefix(upgrade, "spdy") {
			f.spdy.Add(1)
		}
		proxy.ServeHTTP(w, r)
	}))
	c.t.Cleanup(server.Close)
	text, err := os.ReadFile(c.kubeconfig)
	if err != nil {
		c.t.Fatal(err)
	}
	c.kubeconfig = filepath.Join(c.t.TempDir(), "kubeconfig")
	if err := os.WriteFile(c.kubeconfig, bytes.ReplaceAll(text, []byte(config.Host), []byte(server.URL)), 0o600); err != nil {
		c.t.Fatal(err)
	}
	return c
}

// modify has a stream lose bytes.
func (f *front) modify(r *http.Response) error {
	stream, upgraded := r.Body.(io.ReadWriteCloser)
	if f.lossy != "" && upgraded && strings.Contains(r.Request.URL.Path, "/pods/"+f.lossy+"/exec") {
		r.Body = &lossyStream{ReadWriteCloser: stream, in: bufio.NewReader(stream), losing: &f.losing}
	}
	return nil
}

// lossyStream is a WebSocket of which bytes of a command's standard output are lost, once, as has
// been seen in clusters: nothing else shows it.
type lossyStream struct {
	io.ReadWriteCloser
	in     *bufio.Reader
	rest   []byte // of a frame
	losing *atomic.Bool
}

func (s *lossyStream) Read(to []byte) (int, error) {
	for len(s.rest) == 0 {
		head, body, err := readFrame(s.in)
		if err != nil {
			return 0, err
		}
		const standardOutput, lost = 1, 8
		if len(body) > 8*lost && body[0] == standardOutput && s.losing.CompareAndSwap(true, false) {
			body = append(body[:len(body)/2], body[len(body)/2+lost:]...)
			head = wire.BigEndian.AppendUint64([]byte{head[0], 127}, uint64(len(body)))
		}
		s.rest = append(head, body...)
	}
	n := copy(to, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// readFrame reads a server's frame: its head and its body (RFC 6455, section 5.2).
func readFrame(in io.Reader) (head, body []byte, err error) {
	head = make([]byte, 2)
	if _, err := io.ReadFull(in, head); err != nil {
		return nil, nil, err
	}
	length := uint64(head[1])
	if more := map[byte]int{126: 2, 127: 8}[head[1]]; more > 0 {
		long := make([]byte, 8)
		if _, err := io.ReadFull(in, long[8-more:]); err != nil {
			return nil, nil, err
		}
		head, length = append(head, long[8-more:]...), wire.BigEndian.Uint64(long)
	}
	body = make([]byte, length)
	_, err = io.ReadFull(in, body)
	return head, body, err
}

// What is between tare and the pods may refuse WebSocket, or lose bytes.
func (c cluster) testStreams() {
	t := c.t
	t.Run("no WebSocket", func(t *testing.T) {
		f := &front{noWebSocket: true}
		w, said := c.in(t).before(f).weigh("--paths", "same-host,cross-host")
		if got := w.carried(); !slices.Equal(got, []string{"cross-host", "same-host"}) || f.spdy.Load() < 5 {
			t.Errorf("measured on %v by %d streams of SPDY: %s", got, f.spdy.Load(), said)
		}
	})
	t.Run("bytes are lost", func(t *testing.T) {
		f := &front{lossy: "h2-c1"}
		c := c.in(t).before(f)
		w, said, status := c.during(func() { f.losing.Store(true) })
		c.secondLost(w, said, status, "the stream loses, repeats or changes bytes")
		if f.losing.Load() {
			t.Error("nothing was lost")
		}
	})
	c.left()
}
