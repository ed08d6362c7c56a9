package report

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tare/result"
	"tare/test/labtest"
)

// trended is a trend over 48 rounds in which vxlan became slower, with what was otherwise since.
func trended() result.Trend {
	t := result.Trend{Judged: result.JudgedByValue, Left: []result.TrendLeft{{File: "night-3.json", Reason: "its run was interrupted"}}}
	host := result.TrendCell{Network: "host", Path: "cross-host", Workload: "tcp_rr", Metric: "rtt_p50", Unit: "s", Better: result.Lower, Params: result.Params{"nic": "full"}}
	vxlan := host
	vxlan.Network = "vxlan"
	low, high := 0.07, 0.09
	vxlan.Change = &result.Change{Value: 0.08, Low: &low, High: &high, Verdict: "slower"}
	for n := range 48 {
		began := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC).Add(time.Duration(n) * 10 * time.Minute).Format(time.RFC3339)
		t.Results = append(t.Results, result.TrendResult{Compared: result.Compared{File: fmt.Sprintf("round-%04d.json", n+1), Started: began, Version: "0.1.0"}, Round: n + 1})
		value, toll := 4e-5, 0.2
		if n >= 30 {
			toll = 0.3
		}
		tollLow, tollHigh := toll-0.004, toll+0.006
		host.Values, host.Tolls = append(host.Values, &value), append(host.Tolls, nil)
		vxlan.Values, vxlan.Tolls = append(vxlan.Values, &value), append(vxlan.Tolls, &result.TrendToll{Value: toll, Low: &tollLow, High: &tollHigh})
	}
	t.Results[12].Notes = []string{"the machine was suspended for 90.0 s"}
	t.Cells = []result.TrendCell{host, vxlan}
	t.Changes = []result.TrendChange{{
		At: 30, Before: t.Results[29].Started, After: t.Results[30].Started, Of: result.ChangeOfNetwork,
		Series: []result.TrendStep{{Cell: "vxlan cross-host tcp_rr", Metric: "rtt_p50", Of: result.JudgedByToll, At: 30, Change: *vxlan.Change}},
		Beside: []result.TrendBeside{
			{Kind: result.BesideLog, At: "2026-11-26T16:58:01Z", Name: "nf_conntrack: table full\x1b[31m"},
			{Kind: result.BesideCounter, At: "h1", Source: "/proc/net/snmp", Name: "Tcp.RetransSegs", Old: "0", New: "4"},
			{Kind: result.BesideFact, At: "h1", Source: "/proc/sys/net", Name: "ipv4/tcp_sack", Old: "1", New: "0"},
			{Kind: result.BesideCame, Name: "sack-off", New: "selective acknowledgements are off"},
		},
		Unread: []string{"/dev/kmsg: operation not permitted"},
	}}
	t.Growths = []result.TrendGrowth{{Name: "tracked-connections", Source: "/proc/sys/net/netfilter", Unit: "count", First: 100, Last: 2000, Slope: 40}}
	return t
}

// A line per cell fits into 80 columns and into 100, with the first and the newest toll, and what
// changed with its time and what is otherwise since.
func TestTrendFitsTheTerminal(t *testing.T) {
	for _, wide := range []int{80, 100} {
		var text strings.Builder
		if err := Trend(&text, trended(), Options{Width: wide}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(text.String()) {
			if width(strings.TrimSuffix(line, "\n")) > wide {
				t.Errorf("more than %d columns: %s", wide, line)
			}
		}
		flat := strings.Join(strings.Fields(text.String()), " ")
		for _, want := range []string{
			"48 results, from 2026-11-26 12:00:00 to 2026-11-26 19:50:00 UTC",
			"2026-11-26 14:00:00 (round 13): the machine was suspended for 90.0 s", "Left out: night-3.json: its run was interrupted",
			"+20.0 ±0.6 % +30.0 ±0.6 % +8.0 ±1.0 slower", "40.0 us 40.0 us",
			"A network changed at 2026-11-26 17:00:00 (round 31), after 2026-11-26 16:50:00",
			"vxlan cross-host tcp_rr, round trip p50 as a ratio to the host's: +8.0 % [7.0, 9.0], slower",
			"kernel log 16:58:01: nf_conntrack: table full", "counter: h1 /proc/net/snmp Tcp.RetransSegs: 0 -> 4 for each unit of work",
			"fact: h1 /proc/sys/net ipv4/tcp_sack: 1 -> 0", "finding sack-off came: selective acknowledgements are off", "not known: /dev/kmsg",
			"connections that are tracked: 100 -> 2000, by 40 in each round",
		} {
			labtest.Contains(t, fmt.Sprintf("%d columns", wide), flat, want)
		}
		if strings.Contains(text.String(), "\x1b") {
			t.Error("a result's control characters are printed")
		}
		labtest.Contains(t, "the line of vxlan", text.String(), map[int]string{80: "▁▁▁▁▁▁▁▅████", 100: "▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁█████████"}[wide])
		labtest.Contains(t, "the line of the host, which is flat", text.String(), strings.Repeat("▅", map[int]int{80: narrowLine, 100: wideLine}[wide]))
	}
}

func TestTrendInChinese(t *testing.T) {
	var text strings.Builder
	if err := Trend(&text, trended(), Options{Lang: Chinese}); err != nil {
		t.Fatal(err)
	}
	flat := strings.Join(strings.Fields(text.String()), "")
	for _, want := range []string{"持续的变化", "网络在", "出现发现sack-off", "被跟踪的连接"} {
		labtest.Contains(t, "text", flat, want)
	}
}
