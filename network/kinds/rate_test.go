package kinds_test

import (
	"testing"
	"time"

	"tare/catalog"
	"tare/site"
	"tare/test/labtest"
	"tare/wire"
	"tare/workload"
)

// What limits a rate lets no more pass, and is filled where the machine has the time for it.
func TestDeepRatesAreFilled(t *testing.T) {
	const rate = 100e6
	plain, tagged := with("plain", "route", "", ""), with("tagged", "vlan", "", "")
	plain.Axes["link"], tagged.Axes["link"] = rate, rate
	l := build(t, plain, tagged, onCNI(t, "bandwidth"))
	for _, c := range []struct {
		cluster     string
		least, most float64 // of the ceiling
		ceiling     wire.BitsPerSecond
	}{
		{"plain", 0.7, 1.01, wire.TCPCeiling(rate, wire.IPv4, 1500, nil)},
		{"tagged", 0.7, 1.01, wire.TCPCeiling(rate, wire.IPv4, 1500, wire.VLAN())},
		{"cni-bandwidth", 0.5, 1.01, rate}, // a plugin's burst is 0.1 MB
	} {
		t.Run(c.cluster, func(t *testing.T) {
			got := rateOf(t, l, built(t, l, c.cluster))
			labtest.Between(t, "share of the ceiling", got/float64(c.ceiling), c.least, c.most)
		})
	}
}

// rateOf is what a stream between hosts carries in a second, after its beginning.
func rateOf(t *testing.T, l *site.Lab, b site.Built) float64 {
	t.Helper()
	out := measureFor(t, l, b, catalog.CrossHost, "tcp_stream", workload.Run{Size: 128 << 10, Warmup: 300 * time.Millisecond, Duration: time.Second})
	return out.Server.Metrics["throughput"] + out.Client.Metrics["throughput"] // one end measures it
}
