package diagnose

import (
	"fmt"
	"strconv"
	"strings"

	"tare/result"
)

const (
	// limitedShare is the share of the time with data to send, spent waiting, from which
	// the wait limits the flow, if the setting is also small: below smallBuffer bytes.
	// mostShare is that share for a larger setting, if the window is also below
	// smallWindow bytes: on a busy machine every receiver falls behind from time to
	// time.
	limitedShare = 0.05
	mostShare    = 0.5
	smallBuffer  = 1 << 20
	smallWindow  = 128 << 10
	// idleShare is the share of a measured window with data to send below which the
	// application limits the flow: a sender at its limit has data to send in 85 to 100 %
	// of it.
	idleShare = 0.7
)

// windowScaling is the setting without which no TCP window exceeds 64 KiB
// (RFC 7323).
const windowScaling = "ipv4/tcp_window_scaling"

// tcpReceiveWindow finds flows that wait for the receiver's window.
func tcpReceiveWindow() Rule {
	return Rule{
		ID: "tcp-receive-window", Models: true, Apart: true,
		Match: func(e *Evidence) []result.Finding {
			return e.limited("rwnd_limited", "the receiver's window", "ipv4/tcp_rmem", e.Server)
		},
	}
}

// sendBuffer finds flows that wait for room in the sender's own buffer.
func sendBuffer() Rule {
	return Rule{
		ID: "send-buffer", Models: true, Apart: true,
		Match: func(e *Evidence) []result.Finding {
			return e.limited("sndbuf_limited", "room in its send buffer", "ipv4/tcp_wmem", e.Client)
		},
	}
}

// limited is the finding that flows waited for a limit of TCP, by one of TCP_INFO's
// counters.
func (e *Evidence) limited(counter, what, setting, at string) []result.Finding {
	busy, waited := e.mean("busy"), e.mean(counter)
	limits := strings.Fields(e.word(at, sysctls, setting))
	small := false
	if len(limits) == 3 {
		most, err := strconv.Atoi(limits[2])
		small = err == nil && most < smallBuffer
	}
	// What is in flight is then the window. A busy receiver keeps a large one full, and so
	// does a relay, where a flow as the sender has it ends.
	window := e.headline() / 8 * e.mean("rtt") / max(1, e.Cell.Params.Number("flows"))
	if waited == 0 || waited < limitedShare*busy || !small && (waited < mostShare*busy || window > smallWindow || e.relayed()) {
		return nil
	}
	fix := remedy(at, fmt.Sprintf("sysctl -w %s='4096 131072 67108864'", sysctlName(setting)))
	if scaling, known := e.state(at, sysctls)[windowScaling]; known && result.Number(scaling) == 0 {
		fix = remedy(at, "sysctl -w "+sysctlName(windowScaling)+"=1")
	}
	return []result.Finding{{
		Cause: fmt.Sprintf("the sender waited %.0f %% of its time for %s", 100*waited/busy, what),
		Evidence: []result.Evidence{
			{Name: counter, Value: waited, Source: "TCP_INFO"}, {Name: "busy", Value: busy, Source: "TCP_INFO"},
			seen(setting, e.word(at, sysctls, setting), at, sysctls),
		},
		Remedy:     fix,
		Confidence: 0.9, Share: e.ofToll(waited / busy),
	}}
}

// applicationLimited finds flows whose sender often has nothing to send.
func applicationLimited() Rule {
	return Rule{
		ID: "application-limited", Models: true, Apart: true,
		Match: func(e *Evidence) []result.Finding {
			duration, busy := e.mean("window"), e.mean("busy")
			flows := max(1, e.Cell.Params.Number("flows"))
			if e.Cell.Workload != "tcp_stream" || e.mean("app_limited") < flows || busy > idleShare*duration*flows {
				return nil
			}
			return []result.Finding{{
				Cause: fmt.Sprintf("the sender had data to send in only %.0f %% of the window", 100*busy/duration/flows),
				Evidence: []result.Evidence{
					{Name: "busy", Value: busy, Source: "TCP_INFO"}, {Name: "app_limited", Value: e.mean("app_limited"), Source: "TCP_INFO"},
				},
				Fix:        "tare run --flows 4  # or send at a higher rate",
				Confidence: 0.9, Share: e.ofToll(1 - busy/duration/flows),
			}}
		},
	}
}
