package diagnose

import (
	"slices"
	"strings"

	"tare/result"
)

// loss is where the packets of a failed trial ended.
type loss struct {
	at     string // the last place that saw one
	device string // the last device; empty: it left by none
	out    bool   // it had left by the device
	reply  bool   // it was the answer
	server bool   // the request had come in at the server, and nothing answered
	// refused tells that the server's end answered that it takes nothing.
	refused bool
	known   bool // somebody looked
}

// lost finds where the packets of a trial ended.
func (e *Evidence) lost(t result.Trial) loss {
	if t.Seen == nil {
		return loss{}
	}
	way := func(reply bool, from, to string) (loss, bool) {
		l := loss{at: from, reply: reply, known: true}
		arrived := false
		for _, s := range t.Seen {
			if s.Reply == reply {
				l.at, l.device, l.out = s.At, s.Device, s.Out
				arrived = arrived || s.At == to && !s.Out
			}
		}
		return l, arrived
	}
	request, came := way(false, e.Client, e.Server)
	if !came {
		return request
	}
	replied := slices.ContainsFunc(t.Seen, func(s result.Sighting) bool { return s.Reply })
	if !replied {
		return loss{at: e.Server, device: request.device, server: true, known: true}
	}
	answer, back := way(true, e.Server, e.Client)
	switch {
	case back && strings.Contains(t.Error, "refused"):
		return loss{at: e.Server, device: request.device, server: true, refused: true, known: true}
	case back:
		answer.at = e.Client
	}
	return answer
}

// suspects are the places that may have lost what was lost: where it was seen
// last and, if it had left there, the next on its way. Where nobody looked all
// are.
func (e *Evidence) suspects() []string {
	t, failed := e.failed()
	if !failed {
		return nil
	}
	l := e.lost(t)
	if !l.known {
		return e.Places
	}
	found := []string{l.at}
	way := slices.Clone(e.Places)
	if l.reply {
		slices.Reverse(way)
	}
	if at := slices.Index(way, l.at); l.out && at >= 0 && at+1 < len(way) {
		found = append(found, way[at+1])
	}
	return found
}

// where says in words where a trial's packets ended.
func (l loss) where() string {
	what := "the request"
	if l.reply {
		what = "the answer"
	}
	switch {
	case !l.known:
		return what + " was lost on the way"
	case l.refused:
		return "the request reached " + l.at + " by " + l.device + " and was refused"
	case l.server:
		return "the request reached " + l.at + " by " + l.device + " and nothing answered"
	case l.device == "":
		return what + " left " + l.at + " by no device"
	case l.out:
		return what + " left " + l.at + " by " + l.device + " and was seen no more"
	}
	return what + " came into " + l.at + " by " + l.device + " and was seen no more"
}
