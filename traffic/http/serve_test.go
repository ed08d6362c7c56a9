package http

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"tare/test/labtest"
	"tare/test/traffictest"
	"tare/traffic"
)

// asks opens a connection and sends something.
func asks(t *testing.T, l *traffic.Listener, text string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestHTTPUnauthenticatedPeersAreRefusedAndCounted(t *testing.T) {
	wrong := traffictest.Token
	wrong[15]++
	l := traffictest.ListenTCP(t)
	const silent = 3
	for range silent {
		asks(t, l, "")
	}
	strange := []string{
		"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET / HTTP/1.1\r\nX-Tare-Token: " + wrong.Hex() + "\r\n\r\n",
		"GET / HTTP/1.1\r\nX-Tare-Token: " + traffictest.Token.Hex() + "0\r\n\r\n",
		"DELETE / HTTP/1.1\r\nX-Tare-Token: " + wrong.Hex() + "\r\n\r\n",
		"POST / HTTP/1.1\r\nContent-Length: 4\r\nX-Tare-Token: " + traffictest.Token.Hex() + "\r\n\r\n",
		"GET / HTTP/1.1\r\nX-Tare-Token: " + traffictest.Token.Hex() + "\r\n\r\nGET",
		"SSH-2.0-OpenSSH_9.2\r\n\r\n",
		strings.Repeat("x", requestRoom),
	}
	var refused []net.Conn
	for _, text := range strange {
		refused = append(refused, asks(t, l, text))
	}
	c := Options{Token: &traffictest.Token, Window: traffic.Window{Duration: 100 * time.Millisecond}}
	served, calls := traffictest.MustRun(t,
		func(ctx context.Context) (traffic.Served, error) { return Serve(ctx, l, c) },
		func(ctx context.Context) (Calls, error) { return Call(ctx, l.Addr(), c) })
	if want := int64(silent + len(strange)); served.Unauthenticated != want || calls.Count == 0 {
		t.Errorf("%d unauthenticated peers, want %d; %d responses", served.Unauthenticated, want, calls.Count)
	}
	for i, peer := range refused {
		if answer, _ := io.ReadAll(peer); !strings.HasPrefix(string(answer), "HTTP/1.1 403 Forbidden\r\n") {
			t.Errorf("%.40q was answered with %.40q", strange[i], answer)
		}
	}
}

// More silent peers than there is room for do not stop the run.
func TestHTTPServerIsNotCrowdedOut(t *testing.T) {
	l := traffictest.ListenTCP(t)
	const crowd = traffic.MaxPending + 2*traffic.DefaultConnections
	for range crowd {
		asks(t, l, "")
	}
	c := Options{Token: &traffictest.Token, Window: traffictest.ShortWindow}
	served, calls := traffictest.MustRun(t,
		func(ctx context.Context) (traffic.Served, error) { return Serve(ctx, l, c) },
		func(ctx context.Context) (Calls, error) { return Call(ctx, l.Addr(), c) })
	if served.Unauthenticated != crowd || len(calls.Failures) > 0 || calls.Count == 0 {
		t.Errorf("%d unauthenticated peers, want %d; %d responses, failures %v", served.Unauthenticated, crowd, calls.Count, calls.Failures)
	}
}

// The standard library's client meets the server, in requests that come in
// pieces, too.
func TestHTTPServerAnswersOthersWithTheToken(t *testing.T) {
	l := traffictest.ListenTCP(t)
	c := Options{Token: &traffictest.Token, Window: traffictest.ShortWindow, Size: 1_000_000}
	served, asked := traffictest.MustRun(t,
		func(ctx context.Context) (traffic.Served, error) { return Serve(ctx, l, c) },
		func(ctx context.Context) (int64, error) { return askInManyWays(ctx, l, c) })
	if served.Transactions != asked || served.Unauthenticated != 0 {
		t.Errorf("%d requests, %d answered, %d unauthenticated peers", asked, served.Transactions, served.Unauthenticated)
	}
}

func askInManyWays(ctx context.Context, l *traffic.Listener, c Options) (asked int64, err error) {
	for _, method := range []string{"GET", "GET", endMethod} {
		r, err := http.NewRequestWithContext(ctx, method, "http://"+l.Addr().String()+"/any?thing", nil)
		if err != nil {
			return asked, err
		}
		r.Header.Set(tokenHeader, traffictest.Token.Hex())
		if method == endMethod {
			for _, closes := range []bool{false, true, false} {
				if err := askSlowly(l, c, closes); err != nil {
					return asked, err
				}
				asked++
			}
		} else {
			asked++
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			return asked, err
		}
		n, err := io.Copy(io.Discard, response.Body)
		response.Body.Close()
		if err != nil || n != int64(c.Size) || response.StatusCode != 200 {
			return asked, fmt.Errorf("%d bytes, status %d, %w", n, response.StatusCode, err)
		}
	}
	return asked, nil
}

// askSlowly sends a request in pieces, and reads the Connection header of each response.
func askSlowly(l *traffic.Listener, c Options, closes bool) error {
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, piece := range splits(c.request("GET", l.Addr(), closes), 3) {
		if _, err := conn.Write(piece); err != nil {
			return err
		}
		<-time.After(time.Millisecond) // so that it most likely comes alone
	}
	head := make([]byte, 200)
	if _, err := io.ReadFull(conn, head); err != nil {
		return err
	}
	if announced := strings.Contains(string(head), "Connection: close"); announced != closes {
		return fmt.Errorf("close asked for: %t, answered: %t", closes, announced)
	}
	return nil
}

func TestLabHTTPServerNamesWhatTheClientDid(t *testing.T) {
	t.Parallel()
	c := Options{Token: &traffictest.Token, Window: traffictest.ShortWindow}
	for name, text := range map[string]string{"vanishes": "Connection: close\r\n", "is silent": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := traffictest.ListenTCP(t)
			asks(t, l, "GET / HTTP/1.1\r\n"+text+"X-Tare-Token: "+traffictest.Token.Hex()+"\r\n\r\n")
			begun := time.Now()
			traffictest.WantError(t, traffictest.ShortWindow, "1 answers given, 0 unauthenticated peers refused: the client did not end the run", func(ctx context.Context) error {
				_, err := Serve(ctx, l, c)
				return err
			})
			if text != "" {
				labtest.InTime(t, "the report", time.Since(begun), traffic.DrainLimit+time.Second)
			}
		})
	}
}
