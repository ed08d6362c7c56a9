package iperf3

import (
	"fmt"
	"slices"
	"testing"

	"tare/test/labtest"
)

// runReal runs a test against a real server, which must exit 0.
func runReal(t testing.TB, test Test) (Outcome, report) {
	t.Helper()
	at, reports := realServer(t)
	out, err := Run(t.Context(), at, test)
	if err != nil {
		t.Fatal(err)
	}
	theirs := <-reports
	if theirs.Error != "" {
		t.Fatal(theirs.Error)
	}
	return out, theirs
}

// TestRealServerCountsWithOurClient ends each test by its bytes: both ends have the same
// figures. What a server on a busy machine has not read at the end, it never counts.
func TestRealServerCountsWithOurClient(t *testing.T) {
	const bytes = 20<<20 + 12345 // no multiple of a block
	for name, test := range map[string]Test{
		"tcp": {Bytes: bytes}, "tcp 4 flows": {Bytes: bytes, Flows: 4}, "tcp reverse": {Bytes: bytes, Reverse: true},
		"udp": {UDP: true, Bytes: 1_000_000, Size: 1000, Rate: 100e6}, "udp reverse": {UDP: true, Bytes: 1 << 20, Size: 1000, Rate: 100e6, Reverse: true},
	} {
		t.Run(name, func(t *testing.T) {
			out, theirs := runReal(t, test)
			received := out.sum(!test.Reverse, func(f Flow) int64 { return f.ReceivedBytes })
			sent := out.sum(!test.Reverse, func(f Flow) int64 { return f.SentBytes })
			lost := out.sum(!test.Reverse, func(f Flow) int64 { return f.Lost })
			there := theirs.End
			switch {
			case test.Reverse:
				labtest.Between(t, "bytes received", received, test.Bytes, sent)
				labtest.Equal(t, "bytes sent, by our report", sent, there.SumSent.Bytes)
			case test.UDP:
				datagrams := sent / int64(test.Size)
				labtest.Equal(t, "datagrams", datagrams, test.Bytes/int64(test.Size))
				labtest.Equal(t, "lost", lost, datagrams-(there.Sum.Packets-there.Sum.Lost))
			default:
				labtest.Equal(t, "bytes sent", sent, test.Bytes)
				labtest.Equal(t, "bytes received, by our report", received, there.SumReceived.Bytes)
			}
		})
	}
}

// TestRealClientCountsWithOurServer ends each test by its bytes or blocks: both ends have the
// same figures.
func TestRealClientCountsWithOurServer(t *testing.T) {
	at, log := ourServer(t, loopback)
	for name, args := range map[string][]string{
		"bytes":           {"-n", "20M"},
		"bytes reverse":   {"-n", "20M", "-R"},
		"blocks":          {"-k", "160"},
		"blocks of 1000":  {"-k", "3000", "-l", "1000"},
		"bytes, 4 flows":  {"-n", "40M", "-P", "4"},
		"4 flows reverse": {"-n", "40M", "-P", "4", "-R"},
		"udp":             {"-u", "-n", "1M", "-b", "100M", "-l", "1000"},
	} {
		t.Run(name, func(t *testing.T) {
			r := realClient(t, at, args...)
			sent, received := r.End.SumSent.Bytes, r.End.SumReceived.Bytes
			if slices.Contains(args, "-u") {
				log.await(t, fmt.Sprintf("lost %d of ", r.End.Sum.Lost))
			} else if sent != received || sent == 0 {
				t.Errorf("%d bytes sent, %d received", sent, received)
			}
		})
	}
}
