package foreign

import (
	"strings"
	"testing"

	"tare/test/labtest"
)

// Lines with numbers in the midst of a run that its tool does not print are counted, and the first is shown:
// a column or a row that is new may be among them. What is before and behind a run is not of it.
func TestLinesThatAreNotRead(t *testing.T) {
	text := string(read(t, "testdata/iperf3/tcp.client.txt"))
	const odd = "Flow 5: pacing at 12.5 Gbit, epoch 3\n"
	at := strings.Index(text, "- - -")
	for _, c := range []struct {
		name, log string
		count     float64
		said      string
	}{
		{"one in its midst", text[:at] + odd + text[at:], 1, `1 line not read: "Flow 5: pacing at 12.5 Gbit, epoch 3"`},
		{"two in its midst", text[:at] + odd + "Flow 7: 3\n" + text[at:], 2, `2 lines not read, the first: "Flow 5: pacing at 12.5 Gbit, epoch 3"`},
		{"words in its midst", text[:at] + "Here it slows down.\n" + text[at:], 0, ""},
		{"before and behind it", odd + text + odd, 0, ""},
	} {
		cells, err := Read("log.txt", []byte(c.log))
		if err != nil || len(cells) != 1 {
			t.Fatalf("%s: %v, %d", c.name, err, len(cells))
		}
		labtest.Equal(t, c.name, cells[0].Samples[0].Counters["lines_not_read"], c.count)
		labtest.Equal(t, c.name, strings.Join(cells[0].Samples[0].Warnings, ";"), c.said)
	}
}
