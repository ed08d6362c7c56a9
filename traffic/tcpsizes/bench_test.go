package tcpsizes

import (
	"testing"

	"tare/test/traffictest"
	"tare/traffic"
)

// BenchmarkTCPSizesMessage is one message of the bulk phase of tcp_sizes.
func BenchmarkTCPSizesMessage(b *testing.B) {
	near, far := traffictest.TCPPair(b)
	r := traffic.StartRun(b.Context())
	defer r.End()
	defer traffictest.Drain(r, far, 0)()
	if err := traffic.NoDelay([]int{near}, true); err != nil {
		b.Fatal(err)
	}
	message := traffic.RandomPayload(64)
	b.SetBytes(int64(len(message)))
	b.ReportAllocs()
	for b.Loop() {
		if _, errno := traffic.Send(near, message, 0); errno != 0 && !traffic.Waited(errno) {
			b.Fatal(errno)
		}
	}
}
