package diagnose

import (
	"slices"

	"tare/result"
)

// loss is where the packets of a failed trial were lost.
type loss struct {
	at     string // the last place that saw one
	device string // the last device; empty: no device saw it
	out    bool   // the device had sent it
	reply  bool   // it was a reply
	server bool   // the request reached the server, which sent no reply
	// refused is set where the server's end, or the place that saw it last, refused the request.
	refused bool
	known   bool // devices were watched
}

// lost finds where the packets of a trial were lost.
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
	refused := t.Failure() == result.Refused
	if !came {
		request.refused = refused
		return request
	}
	replied := slices.ContainsFunc(t.Seen, func(s result.Sighting) bool { return s.Reply })
	if !replied {
		return loss{at: e.Server, device: request.device, server: true, known: true}
	}
	answer, back := way(true, e.Server, e.Client)
	switch {
	case back && refused:
		return loss{at: e.Server, device: request.device, server: true, refused: true, known: true}
	case back:
		answer.at = e.Client
	}
	return answer
}

// otherWay reports whether packets of a direction were not the ones that were lost.
func (l loss) otherWay(reply bool) bool { return l.known && !l.server && l.reply != reply }

// where describes where a trial's packets were lost.
func (l loss) where() string {
	what := "the request"
	if l.reply {
		what = "the reply"
	}
	switch {
	case !l.known:
		return what + " was lost on the path"
	case l.refused && l.server:
		return "the request reached " + l.at + " on " + l.device + " and was refused"
	case l.server:
		return "the request reached " + l.at + " on " + l.device + " and got no reply"
	case l.device == "":
		return what + " did not leave " + l.at + " by any device"
	case l.out:
		return what + " left " + l.at + " by " + l.device + " and was not seen again"
	}
	if l.refused {
		return what + " entered " + l.at + " by " + l.device + " and was refused there"
	}
	return what + " entered " + l.at + " by " + l.device + " and was not seen again"
}
