package traffic

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tare/test/labtest"
)

func runResponsiveness(t testing.TB, c Responsiveness) (Served, ResponsivenessCalls) {
	t.Helper()
	c.Token = testToken
	l := listenTCP(t)
	return mustRun(t,
		func(ctx context.Context) (Served, error) { return ServeResponsiveness(ctx, l, c) },
		func(ctx context.Context) (ResponsivenessCalls, error) { return CallResponsiveness(ctx, l.Addr(), c) })
}

// runBriefResponsiveness does a run that is too short for a probe on a busy machine.
func runBriefResponsiveness(t *testing.T) {
	t.Helper()
	c, l := Responsiveness{Token: testToken, Window: Window{Duration: 20 * time.Millisecond}, Flows: 2}, listenTCP(t)
	_, _, _, err := ends(
		func(ctx context.Context) (Served, error) { return ServeResponsiveness(ctx, l, c) },
		func(ctx context.Context) (ResponsivenessCalls, error) { return CallResponsiveness(ctx, l.Addr(), c) })
	if err != nil && !strings.Contains(err.Error(), "no probe of each kind") {
		t.Error(err)
	}
}

func TestResponsivenessIsChecked(t *testing.T) {
	for _, c := range []Responsiveness{
		{}, {Window: shortWindow, Flows: MaxLoads + 1}, {Window: shortWindow, Flows: -1}, {Window: Window{Duration: time.Second, Slots: &Slots{}}},
	} {
		if _, err := CallResponsiveness(t.Context(), loopback, c); err == nil || !strings.Contains(err.Error(), "call responsiveness at") {
			t.Errorf("%+v was called: %v", c, err)
		}
		if _, err := ServeResponsiveness(t.Context(), listenTCP(t), c); err == nil {
			t.Errorf("%+v was served", c)
		}
	}
}

// TestResponsivenessIsTheDrafts holds the sums against ones done by hand.
func TestResponsivenessIsTheDrafts(t *testing.T) {
	ms := func(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }
	// Foreign: 60000/((10+20+30)/3) = 3000; loaded: 60000/60 = 1000.
	rpm := ProbeTimes{TCP: ms(10), TLS: ms(20), HTTP: ms(30), Loaded: ms(60)}.PerMinute()
	labtest.Near(t, "round trips a minute", rpm, 2000, 1e-6)
	var times []time.Duration
	for n := range 40 { // the two slowest, 1 s and more, are left out
		times = append(times, ms(float64(n+1)))
	}
	times[3], times[17] = time.Second, time.Minute
	want := (820. - 4 - 18) / 38
	labtest.Near(t, "trimmed mean in ms", float64(trimmedMean(times))/1e6, want, 1e-3)
	labtest.Equal(t, "mean of one", trimmedMean([]time.Duration{7}), 7)
}

// TestProbesLeaveThePathToTheLoad: they use 5 % of it at most.
func TestProbesLeaveThePathToTheLoad(t *testing.T) {
	for load, want := range map[float64]float64{0: 0, 9.6e6: 0.1, 96e6: 1, 10e9: 1} {
		labtest.Near(t, "share of all probes", allowed(load), want, 1e-9)
	}
}

func TestLabResponsivenessMeasures(t *testing.T) {
	window := Window{Warmup: 30 * time.Millisecond, Duration: 300 * time.Millisecond, Interval: 50 * time.Millisecond}
	for _, flows := range []int{0, 1, 6} {
		served, calls := runResponsiveness(t, Responsiveness{Window: window, Flows: flows})
		if flows == 0 {
			flows = defaultLoads
		}
		labtest.Equal(t, "flows of the load", len(calls.Received.Flows), flows)
		labtest.MoreThan(t, "goodput", float64(calls.Received.Goodput()), 0)
		labtest.AtLeast(t, "window", calls.Received.Elapsed(), window.Duration*9/10)
		due := int(window.Duration / probeGap)
		labtest.Between(t, "foreign probes", calls.Foreign, 1, due) // as few as use 5 % of what a busy CPU carries
		labtest.Between(t, "probes on the load", calls.OnLoad, 1, due)
		labtest.Equal(t, "unanswered", calls.Unanswered, 0)
		for name, took := range map[string]time.Duration{"tcp": calls.TCP, "tls": calls.TLS, "http": calls.HTTP, "loaded": calls.Loaded} {
			labtest.AtLeast(t, name, took, time.Microsecond)
		}
		labtest.AtLeast(t, "connections", served.Transactions, int64(flows+calls.Foreign))
		labtest.Equal(t, "unauthenticated", served.Unauthenticated, 0)
		labtest.Equal(t, "congestion control", calls.Congestion, served.Congestion)
		checkSeries(t, calls.Received.Series, window)
	}
}

// across runs one between two machines.
func across(t *testing.T, server, client *machine, at string) ResponsivenessCalls {
	t.Helper()
	var l *Listener
	server.do(func() (err error) {
		l, err = ListenTCP(netip.MustParseAddrPort(at))
		return err
	})
	defer l.Close()
	c := Responsiveness{Token: testToken, Window: Window{Warmup: 400 * time.Millisecond, Duration: 800 * time.Millisecond}}
	_, calls := mustRun(t,
		func(ctx context.Context) (Served, error) { return ServeResponsiveness(ctx, l, c) },
		func(ctx context.Context) (calls ResponsivenessCalls, err error) {
			client.do(func() error {
				calls, err = CallResponsiveness(ctx, l.Addr(), c)
				return nil
			})
			return calls, err
		})
	return calls
}

// TestDeepResponsivenessFallsWithAQueue: a deep queue before a full link delays each part by as
// much as it holds, whatever its kind; a short one delays none as long.
func TestDeepResponsivenessFallsWithAQueue(t *testing.T) {
	const link, deep, short = 40e6, 500_000, 25_000 // 100 ms and 5 ms
	behind := func(queue uint32) ResponsivenessCalls {
		server, client := chain(t, link, queue)
		return across(t, server, client, "10.9.1.1:0")
	}
	bloated, quick := behind(deep), behind(short)
	for name, calls := range map[string]ResponsivenessCalls{"deep": bloated, "short": quick} {
		// What waited for a lost segment arrives at once, also what was sent before the window.
		labtest.Between(t, name+": goodput", float64(calls.Received.Goodput()), link*0.6, link*1.3)
		// 5 % of 40 Mbit/s are 42 probes of each kind a second.
		labtest.Between(t, name+": foreign probes", calls.Foreign, 4, 50)
	}
	for name, took := range map[string]time.Duration{"tcp": bloated.TCP, "tls": bloated.TLS, "http": bloated.HTTP} {
		labtest.Between(t, name+" beside a deep queue", took, 30*time.Millisecond, 400*time.Millisecond)
	}
	labtest.Between(t, "loaded with a deep queue", bloated.Loaded, 30*time.Millisecond, time.Second)
	labtest.Between(t, "round trips a minute with a deep queue", bloated.PerMinute(), 100, 2000)
	labtest.MoreThan(t, "round trips a minute with a short queue", quick.PerMinute(), 2*bloated.PerMinute())
}

// TestDeepResponsesAreOnePacket: where the full queue is the server's own, a request waits in
// it once, as a handshake does.
func TestDeepResponsesAreOnePacket(t *testing.T) {
	server, client := pair(t)
	throttle(server, "va", 40e6, 500_000)
	calls := across(t, server, client, "10.9.0.1:0")
	labtest.AtLeast(t, "the handshake of TCP", calls.TCP, 5*time.Millisecond)
	labtest.LessThan(t, "the request", calls.HTTP, calls.TCP*8/5)
}

// TestFramesAreFollowed however they are cut.
func TestFramesAreFollowed(t *testing.T) {
	settings, head, data := []byte{0, 0, 6, 4, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6}, []byte{0, 0, 1, 1, 4, 0, 0, 0, 1, 7}, []byte{0, 0, 2, 0, 1, 0, 0, 0, 1, 8, 9}
	all := slices.Concat(settings, head, data, head)
	for cut := range len(all) {
		var f webFrames
		before, after := f.pass(all[:cut]), f.pass(all[cut:])
		begun, ended := len(settings)+len(head)+frameHead, len(settings)+len(head)+len(data)
		labtest.Equal(t, fmt.Sprintf("data in the first %d bytes", cut), before, cut >= begun)
		labtest.Equal(t, fmt.Sprintf("data from byte %d on", cut), after, cut < ended)
	}
}

// TestLabResponsivenessNamesWhatTheServerDid ends with an error, and gives no number.
func TestLabResponsivenessNamesWhatTheServerDid(t *testing.T) {
	t.Parallel()
	for want, do := range map[string]func(net.Conn){
		"shake hands":                   func(c net.Conn) { c.Close() },
		"whether its token is the same": func(c net.Conn) { _, _ = io.Copy(io.Discard, c) },
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			at := badServer(t, do).Addr().(*net.TCPAddr).AddrPort()
			wantError(t, shortWindow, want, func(ctx context.Context) error {
				_, err := CallResponsiveness(ctx, at, Responsiveness{Token: testToken, Window: shortWindow})
				return err
			})
		})
	}
}

// TestPromptConnectionsKeepLittleUnsent: the sender's socket holds what 5 ms carry.
func TestPromptConnectionsKeepLittleUnsent(t *testing.T) {
	to := badServer(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }).Addr()
	socket, err := net.Dial(to.Network(), to.String())
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	c := &promptConn{Conn: socket}
	unsent := func() (bytes int) {
		t.Helper()
		if _, err := c.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		raw, err := socket.(*net.TCPConn).SyscallConn()
		if err == nil {
			err = errors.Join(raw.Control(func(fd uintptr) {
				bytes, err = unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT)
			}), err)
		}
		if err != nil {
			t.Fatal(err)
		}
		return bytes
	}
	labtest.Equal(t, "bytes before the rate is known", unsent(), leastUnsent)
	const each, seconds = 20_000_000, 1000 // so many that what this test takes is none of them
	c.sent, c.since = each*seconds, time.Now().Add(-seconds*time.Second)
	labtest.Between(t, "bytes at 20 MB/s", unsent(), each/200*9/10, each/200)
	c.since = time.Now().Add(-time.Second)
	labtest.Equal(t, "bytes of one that stalled", unsent(), leastUnsent)
}
