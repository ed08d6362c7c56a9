package foreign

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"tare/result"
)

var (
	pingHead   = expressionOf(`^PING\s+\S+\s*\([^)]*\):?\s*(?:from .*?:\s*)?(?:(\d+)\s*data bytes|(\d+)\(\d+\)\s*\p{L})`)
	pingAnswer = expressionOf(`^(?:\[[\d.]+\]\s*)?\d+ (?:bytes from \S.*?[ _]seq=(?:\d+)\s.*?time|\p{L}+ \p{L}+ \S.*?[ _]seq=\d+ ttl=\d+ \p{L}+)[=<]([\d.]+)\s*ms(.*)$`)
	pingCount  = expressionOf(`^(\d+) packets transmitted,\s*(\d+)(?: packets)? received,(.*)$`)
	pingWords  = expressionOf(`^(\d+) \p{L}[^\d,]*, *(\d+) \p{L}[^\d,]*,((?: *\+\d+ [^\d,]*,)* *[\d.]+ ?%[^\d,]*, *\p{L}+ \d+ ?ms.*)$`) // in any language
	pingTime   = expressionOf(`\p{L} (\d+) ?ms`)
	pingExtra  = expressionOf(`\+(\d+) (\p{L}+)`)
	pingChina  = expressionOf(`^已发送\s*(\d+)\s*个包[,，]\s*已接收\s*(\d+)\s*个包[,，](.*)$`)
	pingTimes  = expressionOf(`^(?:rtt|round-trip)\s*min/avg/max(?:/(?:mdev|std-?dev))?\s*=\s*([\d.]+)/([\d.]+)/([\d.]+)(?:/([\d.]+))?\s*ms`)
	pingRefuse = expressionOf(`^(?:From \S.*?icmp_seq=\d+|ping:)\s+(\S.*)$`)
)

func hintsPing() []string {
	return []string{"PING", "bytes from", "seq=", "%", "transmitted", "已发送", "min/avg/max", "icmp_seq", "ping:"}
}

func claimsPing(ahead []string) claim {
	if matchesAny(ahead[0], pingCount, pingWords, pingChina, pingTimes) { // as hping3 and arping end
		return ending
	}
	return sure(matchesAny(ahead[0], pingHead, pingAnswer, pingRefuse))
}

// pingRun is one run as far as its lines were read.
type pingRun struct {
	size       int // bytes of data in a packet
	answers    []float64
	duplicates int
	count      []string
	times      []string
	refused    string
}

// readPing reads the text of ping: of iputils, inetutils, BSD and busybox.
func readPing(lines []string) []result.Cell {
	return readRuns(lines, func(command) *pingRun { return &pingRun{} })
}

func (run *pingRun) isOver(line string) bool {
	again := run.count != nil || run.size == 0 && run.refused != "" && !strings.HasPrefix(run.refused, "send") // each of its packets
	return pingHead.MatchString(line) || again && matchesAny(line, pingAnswer, pingCount, pingWords, pingChina, pingRefuse) || run.times != nil && pingTimes.MatchString(line)
}

func (run *pingRun) read(line string) {
	if m := pingHead.FindStringSubmatch(line); m != nil {
		run.size = int(count(m[1] + m[2]))
	}
	if m := pingAnswer.FindStringSubmatch(line); m != nil {
		if strings.Contains(m[2], "DUP!") {
			run.duplicates++
		} else {
			run.answers = append(run.answers, seconds(count(m[1]), time.Millisecond))
		}
	}
	for _, form := range []expression{pingWords, pingChina, pingCount} {
		if m := form.FindStringSubmatch(line); m != nil {
			run.count = m
		}
	}
	if m := pingTimes.FindStringSubmatch(line); m != nil {
		run.times = m
	}
	if m := pingRefuse.FindStringSubmatch(line); m != nil && run.refused == "" {
		run.refused = m[1]
	}
}

// cells makes the run a cell.
func (run *pingRun) cells() []result.Cell {
	if run.size == 0 && len(run.answers) == 0 && run.count == nil && run.times == nil && run.refused == "" {
		return nil
	}
	b := newPair("ping", "icmp_rr")
	b.param("side", client)
	b.known("size", run.size)
	run.losses(b)
	run.trips(b)
	return []result.Cell{b.done()}
}

// losses notes what was sent and what came back.
func (run *pingRun) losses(b *builder) {
	switch {
	case run.count != nil:
	case len(run.answers) > 0 || run.times != nil:
		b.warn("no summary: the text breaks off before it")
		if run.duplicates > 0 {
			b.warn(fmt.Sprintf("%d duplicates", run.duplicates))
		}
		if len(run.answers) > 0 {
			b.observed(float64(len(run.answers)))
		}
		return
	default:
		b.fail(run.refused)
		b.fail("no answer: the text breaks off before the summary")
		return
	}
	sent, received := count(run.count[1]), count(run.count[2])
	b.counter("sent", sent)
	b.counter("received", received)
	b.observed(received)
	if m := pingTime.FindStringSubmatch(run.count[3]); m != nil {
		b.known("duration", seconds(count(m[1]), time.Millisecond))
	}
	for _, m := range pingExtra().FindAllStringSubmatch(run.count[3], -1) {
		if slices.Contains([]string{"duplicates", "errors", "corrupted"}, m[2]) {
			b.counter(m[2], count(m[1]))
		}
		b.warn(fmt.Sprintf("%s %s", m[1], m[2]))
	}
	if sent > 0 && received <= sent {
		b.metric("loss", 1-received/sent)
	} else if sent > 0 {
		b.warn("more answers than packets: the loss is not known")
	}
	if received == 0 {
		b.fail(strings.TrimSuffix(fmt.Sprintf("none of %.0f packets was answered: %s", sent, run.refused), ": "))
	}
}

// trips notes round trips: percentiles only where the answer to every packet was printed.
func (run *pingRun) trips(b *builder) {
	if m := run.times; m != nil {
		b.metric("rtt_mean", seconds(count(m[2]), time.Millisecond))
		for n, name := range map[int]string{1: "rtt_min", 3: "rtt_max", 4: "rtt_mdev"} {
			if m[n] != "" {
				b.counter(name, seconds(count(m[n]), time.Millisecond))
			}
		}
	}
	n := len(run.answers)
	if n == 0 || run.count != nil && n != int(count(run.count[2])) {
		return
	}
	all := 0.0
	for _, v := range run.answers {
		all += v
	}
	b.metric("rtt_mean", all/float64(n))
	slices.Sort(run.answers)
	for percent, thousandths := range map[string]int{"50": 500, "90": 900, "99": 990, "99.9": 999} {
		if n*(1000-thousandths) >= 1000 { // of fewer it is the slowest
			b.metric("rtt_"+rankName(percent), run.answers[(n*thousandths+999)/1000-1])
		}
	}
}
