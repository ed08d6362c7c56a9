package traffic

import (
	"testing"
	"time"
)

// tcpPair is a connection over the loopback: both its ends.
func tcpPair(b *testing.B) (near, far int) {
	b.Helper()
	l := listenTCP(b)
	r := startRun(b.Context())
	defer r.end()
	dialled := make(chan error, 1)
	go func() {
		fds, err := dialFlows(r, l.Addr(), testToken, 1, "")
		if err == nil {
			near = fds[0]
		}
		dialled <- err
	}()
	fds, err := newAcceptor(r, l, testToken, greetingLen).acceptFlows(1)
	if err != nil {
		b.Fatal(err)
	}
	if err := <-dialled; err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { closeSockets([]int{near, fds[0]}) })
	return near, fds[0]
}

// drain receives what the other end sends until it is stopped.
func drain(r *run, fd, flags int) (stop func()) {
	done := make(chan struct{})
	buffer := prefaulted(defaultRead)
	go func() {
		defer close(done)
		for !r.stopped.Load() {
			_, _ = recv(fd, buffer, flags)
		}
	}()
	return func() { r.stop(); <-done }
}

// BenchmarkTCPStreamSend is one block of each mode, its receiver on another thread.
func BenchmarkTCPStreamSend(b *testing.B) {
	for _, mode := range []StreamMode{StreamWrite, StreamSendfile} {
		b.Run(string(mode), func(b *testing.B) {
			near, far := tcpPair(b)
			r := startRun(b.Context())
			defer r.end()
			defer drain(r, far, 0)()
			o, err := openSource(TCPStream{Mode: mode, WriteBytes: defaultBlock})
			if err != nil {
				b.Fatal(err)
			}
			out := o.writer()
			b.SetBytes(defaultBlock)
			b.ReportAllocs()
			for b.Loop() {
				for left := defaultBlock; left > 0; {
					n, errno := out.write(near, left, 0)
					if errno != 0 && !again(errno) {
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
	for _, mode := range []StreamMode{StreamWrite, StreamTrunc} {
		b.Run(string(mode), func(b *testing.B) {
			near, far := tcpPair(b)
			r := startRun(b.Context())
			defer r.end()
			source := randomBytes(defaultBlock)
			done := make(chan struct{})
			go func() {
				defer close(done)
				for !r.stopped.Load() {
					_, _ = send(near, source, 0)
				}
			}()
			s := TCPStream{Mode: mode, Window: Window{Duration: time.Hour}, ReadBytes: defaultRead, Bytes: 1 << 60}
			f := newStreamReceiver(r, []int{far}, s).flows[0]
			b.ReportAllocs()
			for b.Loop() {
				n, errno := f.buffer.receive(f.fd, f.flags)
				if errno != 0 && !again(errno) {
					b.Fatal(errno)
				}
				b.SetBytes(int64(n))
				e := event{at: r.now(), n: int64(n)}
				f.quota.spend(f.meter, &e)
				f.meter.step(e)
			}
			r.stop()
			<-done
		})
	}
}

// BenchmarkTCPSizesMessage is one message of the bulk phase of tcp_sizes.
func BenchmarkTCPSizesMessage(b *testing.B) {
	near, far := tcpPair(b)
	r := startRun(b.Context())
	defer r.end()
	defer drain(r, far, 0)()
	if err := noDelay([]int{near}, true); err != nil {
		b.Fatal(err)
	}
	message := randomBytes(64)
	b.SetBytes(int64(len(message)))
	b.ReportAllocs()
	for b.Loop() {
		if _, errno := send(near, message, 0); errno != 0 && !again(errno) {
			b.Fatal(errno)
		}
	}
}

// BenchmarkPace is what the schedule of a paced stream costs per write.
func BenchmarkPace(b *testing.B) {
	p := TCPStream{Rate: 1e18, WriteBytes: 1, Flows: 1}.paces()[0]
	r := startRun(b.Context())
	defer r.end()
	b.ReportAllocs()
	for b.Loop() {
		p.due(r)
	}
}
