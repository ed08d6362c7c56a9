package iperf3

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"tare/test/labtest"
)

func FuzzParameters(f *testing.F) {
	f.Add([]byte(`{"tcp":true,"omit":0,"time":10,"num":0,"blockcount":0,"parallel":1,"len":131072,"pacing_timer":1000,"client_version":"3.12"}`))
	f.Add([]byte(`{"udp":true,"omit":1,"time":1.0,"num":1.8446744073709552e+19,"parallel":2,"reverse":true,"len":1460,"bandwidth":1048576,"udp_counters_64bit":1}`))
	f.Add([]byte(`{"tcp":1,"parallel":"2"}`))
	f.Add([]byte(`{"sctp":true}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := parseParameters(text)
		if err != nil {
			if why := (*refusal)(nil); !errors.As(err, &why) || why.code <= 0 {
				t.Errorf("%v has no word of iperf3's", err)
			}
			return
		}
		p.fill(1448)
		labtest.Between(t, "parallel", p.Parallel, 1, MaxFlows)
		least := number(1)
		if p.UDP {
			least = minDatagram
		}
		labtest.Between(t, "len", p.Len, least, maxBlock)
		if n := p.flows(); n > 2*MaxFlows || len(flowIDs(n)) != n {
			t.Errorf("%d flows", n)
		}
		s := newPace(p)
		for now := time.Duration(0); now < time.Second; now += 100 * time.Millisecond {
			if wait := s.next(now); wait < 0 {
				t.Errorf("wait for %v", wait)
			}
		}
		again, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := parseParameters(again); err != nil || back != p {
			t.Errorf("%+v came back as %+v: %v", p, back, err)
		}
	})
}

func FuzzResults(f *testing.F) {
	f.Add([]byte(resultsText(1, 1000, 10, 1)))
	f.Add([]byte(`{"cpu_util_total":1,"cpu_util_user":1,"cpu_util_system":0,"sender_has_retransmits":-1,"streams":[{"id":1,"bytes":-5}]}`))
	f.Add([]byte(`{"streams":[{"id":1,"errors":-3,"packets":1e300,"omitted_errors":-1,"omitted_packets":5}]}`))
	f.Add([]byte(`{"streams":[]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := parseResults(text, []int{1})
		if err != nil {
			return
		}
		var flow Flow
		flow.lossAtServer(100, 10, r.Streams[0])
		labtest.Between(t, "lost", flow.Lost, 0, flow.Datagrams)
		labtest.AtLeast(t, "bytes", r.Streams[0].Bytes, 0)
		labtest.AtLeast(t, "retransmits", r.Streams[0].Retransmits, unknown)
	})
}

func FuzzMessage(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x02{}"))
	f.Add([]byte("\xff\xff\xff\xff{}"))
	f.Add([]byte("\x00\x00\x00\x09{}"))
	f.Fuzz(func(t *testing.T, got []byte) {
		text, err := readMessage(bytes.NewReader(got))
		if err == nil && !bytes.Equal(got[4:4+len(text)], text) {
			t.Errorf("read %q of %q", text, got)
		}
	})
}

func FuzzDatagram(f *testing.F) {
	f.Add(datagram(1, 16), true)
	f.Add(datagram(1<<40, 1460), false)
	f.Add([]byte("9876"), false)
	f.Fuzz(func(t *testing.T, packet []byte, wide bool) {
		h, ok := parseHeader(packet, wide)
		if !ok {
			return
		}
		again := make([]byte, wideHeader)
		h.put(again, wide)
		if back, ok := parseHeader(again, wide); !ok || back.number != h.number {
			t.Errorf("%+v came back as %+v", h, back)
		}
	})
}

// FuzzServerStates sends anything to a server behind a cookie. The server must
// end that test and take the next.
func FuzzServerStates(f *testing.F) {
	message := func(text string) []byte { return append([]byte{0, 0, 0, byte(len(text))}, text...) }
	f.Add(message(`{"tcp":true,"parallel":1}`))
	f.Add(append(message(`{"udp":true,"parallel":1}`), byte(testEnd)))
	f.Add(append(message(`{"tcp":true,"parallel":1}`), byte(clientTerminate)))
	f.Add([]byte{byte(testEnd), 0, 0, 0, 0})
	at, _ := ourServer(f, loopback)
	f.Fuzz(func(t *testing.T, got []byte) {
		s := dialScript(t, at)
		_, _ = s.conn.Write(got) // the server may have closed already
		_ = s.conn.CloseWrite()
		if err := s.conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		_, err := io.Copy(io.Discard, s.conn)
		if timeout := net.Error(nil); errors.As(err, &timeout) && timeout.Timeout() {
			t.Fatal("the server holds the connection")
		}
		awaitFree(t, at)
	})
}

// FuzzClientStates sends anything to a client.
func FuzzClientStates(f *testing.F) {
	f.Add([]byte{byte(paramExchange), byte(createStreams)})
	f.Add([]byte{byte(paramExchange), 0xfe, 0, 0, 0, 27})
	f.Add([]byte("SSH-2.0-server"))
	f.Fuzz(func(t *testing.T, got []byte) {
		l := listenAside(t)
		defer l.Close()
		go func() {
			for {
				conn, err := l.AcceptTCP()
				if err != nil {
					return // the test is over
				}
				_, _ = conn.Write(got)
				conn.Close()
			}
		}()
		if _, err := Run(t.Context(), addressOf(l.Addr()), Test{Bytes: 1000}); err == nil {
			t.Error("a test without a server succeeded")
		}
	})
}
