// Package traffictest is what the tests of package traffic and of the loops below it share: both ends of a
// run, servers and clients that behave badly, namespaces, and that nothing leaks.
package traffictest

import (
	"flag"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"tare/traffic"
)

// What most runs of tests have.
var (
	Loopback    = netip.MustParseAddrPort("127.0.0.1:0")
	Token       = traffic.Token{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	ShortWindow = traffic.Window{Warmup: 30 * time.Millisecond, Duration: 60 * time.Millisecond}
	LongWindow  = traffic.Window{Duration: time.Hour} // in which silence is found before the run is too long
)

// RunTests is TestMain of a package of loops. It gives both ends, which share this process,
// their processors. As a child of RunInNamespace it does the check.
func RunTests(m *testing.M, check func() error) {
	debug.SetGCPercent(-1)
	runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0), 4*traffic.Processors(5)))
	if os.Getenv(fewPorts) != "" {
		if err := check(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	flag.Parse()
	// The parallel tests wait for timeouts and need no processor each.
	if err := flag.Set("test.parallel", "64"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
