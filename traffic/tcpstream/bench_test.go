package tcpstream

import (
	"testing"
	"time"

	"tare/test/traffictest"
	"tare/traffic"
)

// BenchmarkTCPStreamSend is one block of each mode, its receiver on another thread.
func BenchmarkTCPStreamSend(b *testing.B) {
	for _, mode := range []Mode{Write, Sendfile} {
		b.Run(string(mode), func(b *testing.B) {
			near, far := traffictest.TCPPair(b)
			r := traffic.StartRun(b.Context())
			defer r.End()
			defer traffictest.Drain(r, far, 0)()
			o, err := openSource(Options{Mode: mode, WriteBytes: traffic.DefaultBlock})
			if err != nil {
				b.Fatal(err)
			}
			out := o.writer()
			b.SetBytes(traffic.DefaultBlock)
			b.ReportAllocs()
			for b.Loop() {
				for left := traffic.DefaultBlock; left > 0; {
					n, errno := out.write(near, left, 0)
					if errno != 0 && !traffic.Waited(errno) {
						b.Fatal(errno)
					}
					left -= n
				}
			}
			if err := o.close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// BenchmarkTCPStreamReceive is one step of the receiver of each mode: a read,
// its time, the quota and the window.
func BenchmarkTCPStreamReceive(b *testing.B) {
	for _, mode := range []Mode{Write, Trunc} {
		b.Run(string(mode), func(b *testing.B) {
			near, far := traffictest.TCPPair(b)
			r := traffic.StartRun(b.Context())
			defer r.End()
			source := traffic.RandomPayload(traffic.DefaultBlock)
			done := make(chan struct{})
			go func() {
				defer close(done)
				for !r.Stopped() {
					_, _ = traffic.Send(near, source, 0)
				}
			}()
			s := Options{Mode: mode, Window: traffic.Window{Duration: time.Hour}, ReadBytes: defaultRead, Bytes: 1 << 60}
			f := newStreamReceiver(r, []int{far}, s).flows[0]
			b.ReportAllocs()
			for b.Loop() {
				n, errno := f.buffer.receive(f.fd, f.flags)
				if errno != 0 && !traffic.Waited(errno) {
					b.Fatal(errno)
				}
				b.SetBytes(int64(n))
				e := traffic.Event{At: r.Now(), N: int64(n)}
				f.quota.spend(f.meter, &e)
				f.meter.Step(e)
			}
			r.Stop()
			<-done
		})
	}
}

// BenchmarkPace is what the schedule of a paced stream costs per write.
func BenchmarkPace(b *testing.B) {
	p := Options{Rate: 1e18, WriteBytes: 1, Flows: 1}.paces()[0]
	r := traffic.StartRun(b.Context())
	defer r.End()
	b.ReportAllocs()
	for b.Loop() {
		p.due(r)
	}
}
