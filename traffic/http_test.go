package traffic

import (
	"context"
	"testing"
)

func runHTTP(t testing.TB, c HTTP) (Served, HTTPCalls) {
	t.Helper()
	l := listenTCP(t)
	c.Token = &testToken
	return mustRun(t,
		func(ctx context.Context) (Served, error) { return ServeHTTP(ctx, l, c) },
		func(ctx context.Context) (HTTPCalls, error) { return CallHTTP(ctx, l.Addr(), c) })
}

func TestHTTPSmoke(t *testing.T) {
	for _, c := range []HTTP{{}, {Mode: CloseEach}, {Rate: 2000}, {Mode: CloseEach, Rate: 500}, {Size: 3 << 20, Connections: 3}} {
		c.Window = shortWindow
		s, calls := runHTTP(t, c)
		p50, _ := calls.Latency.Quantile(0.5)
		t.Logf("%+v\n%v\n %v %v %+v", c, s, calls.Rate(), p50, calls)
	}
}
