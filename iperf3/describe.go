package iperf3

import (
	"fmt"
	"strings"
)

// describe is what people read of a test.
func (s *session) describe(ours, theirs results) string {
	t := s.transfer
	protocol, direction := "TCP", "from the client"
	if s.p.UDP {
		protocol = "UDP"
	}
	if s.p.Reverse {
		direction = "to the client"
	} else if s.p.Bidirectional {
		direction = "both ways"
	}
	var got, sent, retransmits int64
	var lost, expected, duplicates, reordered, skipped int64
	for i, f := range s.open {
		a := ours.Streams[i]
		skipped += f.skipped
		if f.sends {
			sent += int64(a.Bytes)
			retransmits += max(int64(a.Retransmits), 0)
			continue
		}
		got += int64(a.Bytes)
		retransmits += max(int64(theirs.Streams[i].Retransmits), 0)
		if s.p.UDP {
			lost, expected = lost+int64(a.Errors), expected+int64(a.Packets-*a.OmittedPackets)
			duplicates, reordered = duplicates+f.arrivals.Duplicates(), reordered+f.arrivals.Reordered()
		}
	}
	opens, closes := t.watched.window()
	span := closes.at - opens.at
	parts := []string{fmt.Sprintf("%s, flows %d %s, %.2f s", protocol, len(s.open), direction, span.Seconds())}
	if !s.p.Reverse {
		parts = append(parts, fmt.Sprintf("received %.1f Mbit/s", perSecond(got, span)/1e6))
	}
	if s.p.Reverse || s.p.Bidirectional {
		parts = append(parts, fmt.Sprintf("sent %.1f Mbit/s", perSecond(sent, span)/1e6))
	}
	if skipped > 0 {
		parts = append(parts, fmt.Sprintf("%d blocks given up, this end being too late for them or the path too slow", skipped))
	}
	if s.p.ServerAffinity >= 0 {
		parts = append(parts, fmt.Sprintf("not bound to CPU %d as the client asked, but where the server was started", s.p.ServerAffinity))
	}
	if !s.p.UDP {
		parts = append(parts, fmt.Sprintf("%d retransmits", retransmits))
	} else if !s.p.Reverse {
		parts = append(parts, fmt.Sprintf("lost %d of %d, %d duplicates, %d reordered", lost, expected, duplicates, reordered))
	}
	return strings.Join(parts, ", ")
}
