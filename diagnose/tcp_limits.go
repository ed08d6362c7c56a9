package diagnose

import (
	"fmt"
	"strconv"
	"strings"

	"tare/result"
)

const (
	// limitedShare is the share of the time with something to send from which
	// what held it up limits the flow, where the setting is small too: below
	// smallBuffer bytes. mostShare tells without the setting, where what is on the
	// way at once does not fill one packet: on a busy machine every receiver falls
	// behind now and then.
	limitedShare = 0.15
	mostShare    = 0.5
	smallBuffer  = 1 << 20
	smallWindow  = 128 << 10
	// idleShare is the share of a window with something to send below which the
	// application is what limits it: a sender that does what it can has something in
	// 85 to 100 % of it.
	idleShare = 0.7
)

// windowScaling is the setting without which no window is larger than 64 KiB
// (RFC 7323).
const windowScaling = "ipv4/tcp_window_scaling"

// tcpReceiveWindow knows flows that wait for the receiver's window.
func tcpReceiveWindow() Rule {
	return Rule{
		ID: "tcp-receive-window", Doc: doc("tcp-receive-window"),
		Cause: "the sender waits for the receiver's window",
		Fix:   "sysctl -w net.ipv4.tcp_rmem='LEAST DEFAULT MOST', and no SO_RCVBUF of a fixed size",
		Match: func(e *Evidence) []result.Finding {
			return e.limited("rwnd_limited", "the receiver's window", "ipv4/tcp_rmem", e.Server)
		},
	}
}

// sendBuffer knows flows that wait for room in the sender's own buffer.
func sendBuffer() Rule {
	return Rule{
		ID: "send-buffer", Doc: doc("send-buffer"),
		Cause: "the sender waits for room in its own buffer",
		Fix:   "sysctl -w net.ipv4.tcp_wmem='LEAST DEFAULT MOST', and no SO_SNDBUF of a fixed size",
		Match: func(e *Evidence) []result.Finding {
			return e.limited("sndbuf_limited", "room in its send buffer", "ipv4/tcp_wmem", e.Client)
		},
	}
}

// limited is the finding that flows waited for something of TCP's.
func (e *Evidence) limited(counter, what, setting, at string) []result.Finding {
	busy, waited := e.mean("busy"), e.mean(counter)
	limits := strings.Fields(e.word(at, sysctls, setting))
	small := false
	if len(limits) == 3 {
		most, err := strconv.Atoi(limits[2])
		small = err == nil && most < smallBuffer
	}
	// What is on the way at once is then the window. A receiver that is busy keeps
	// a large one full.
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

// applicationLimited knows flows whose sender has nothing to send.
func applicationLimited() Rule {
	return Rule{
		ID: "application-limited", Doc: doc("application-limited"),
		Cause: "the application sends less than the path would take",
		Fix:   "a faster sender, or more flows",
		Match: func(e *Evidence) []result.Finding {
			duration, busy := e.mean("window"), e.mean("busy")
			flows := max(1, e.Cell.Params.Number("flows"))
			if e.Cell.Workload != "tcp_stream" || e.mean("app_limited") < flows || busy > idleShare*duration*flows {
				return nil
			}
			return []result.Finding{{
				Cause: fmt.Sprintf("the sender had something to send in %.0f %% of the window", 100*busy/duration/flows),
				Evidence: []result.Evidence{
					{Name: "busy", Value: busy, Source: "TCP_INFO"}, {Name: "app_limited", Value: e.mean("app_limited"), Source: "TCP_INFO"},
				},
				Fix:        "tare run --flows 4  # or ask for a higher rate",
				Confidence: 0.9, Share: e.ofToll(1 - busy/duration/flows),
			}}
		},
	}
}
