package workload

import (
	"fmt"
	"net/netip"

	"tare/traffic/udp"
)

// Warnings of a rate of datagrams.
const (
	joinedShare = 0.95 // of the datagrams that were packets at the device, at least

	warnGSO    = "gso: datagrams per second, not packets"
	warnJoined = "joined: the device counted fewer packets than datagrams came: datagrams per second, not packets"
)

// udpPPS is the largest rate of small datagrams, or a rate that was asked for.
func udpPPS() Workload {
	return Workload{
		Serve: serving(pps, listenPackets, udp.ServePPS, ppsReceived),
		Send:  sending(pps, udp.SendPPS, ppsSent),
	}
}

// SendsFrames reports whether a mode sends the frames of a program by a device, which the
// device must take.
func SendsFrames(mode string) bool { return mode == string(udp.XDP) }

func listenPackets(run Run, bind netip.AddrPort) (*udp.Listener, error) {
	return udp.ListenGroup(bind, udp.Threads(run.Flows))
}

func pps(run Run) (udp.PPS, error) {
	token, err := run.token()
	return udp.PPS{
		Token: token, Window: run.window(), Mode: udp.Mode(run.Mode), Size: run.Size,
		Flows: run.Flows, Rate: run.Rate, Spin: run.Spin,
	}, err
}

// ppsReceived is the rate, and by the receiver's device whether it is one of
// packets.
func ppsReceived(run Run, got udp.Received) Tally {
	t := received(got)
	t.Metrics["rate"] = got.Rate()
	t.Work = float64(got.Datagrams)
	t.addTaken("rate", got.Taken, 1)
	t.Counters["packets"] = float64(got.Packets)
	t.Counters["receiver_threads"] = float64(got.Threads)
	switch {
	case udp.Mode(run.Mode) == udp.GSO:
		t.Warnings = append(t.Warnings, warnGSO)
	case float64(got.Packets) < joinedShare*float64(got.Datagrams):
		t.Warnings = append(t.Warnings, warnJoined)
	}
	return t
}

// ppsSent is what was offered, with a warning where it is less than was asked for.
func ppsSent(run Run, sent udp.Sent) Tally {
	t := packetsSent(sent)
	t.Counters = map[string]float64{"sender_threads": float64(sent.Threads)}
	if run.Rate == 0 {
		return t
	}
	t.Counters["late"], t.Counters["skipped"] = float64(sent.Late), float64(sent.Skipped)
	t.Warnings = append(t.Warnings, lateSender(sent)...)
	if want := run.Rate * float64(run.Flows); sent.Rate() < (1-shortfall)*want {
		t.Warnings = append(t.Warnings, fmt.Sprintf("offered-rate: %.3g datagrams per second were sent, where %.3g were asked for", sent.Rate(), want))
	}
	return t
}

// received is what every run of datagrams measures at the receiver.
func received(got udp.Received) Tally {
	t := Tally{
		Metrics: map[string]float64{"loss": got.Loss()},
		Counters: map[string]float64{
			"datagrams": float64(got.Datagrams), "lost": float64(got.Lost), "duplicates": float64(got.Duplicates),
			"reordered": float64(got.Reordered), "receive_buffer": float64(got.ReceiveBuffer),
		},
		Warnings: unknownPeers(got.Unauthenticated), Window: got.Elapsed,
	}
	if !got.Uncounted {
		t.Counters["receiver_drops"], t.Counters["path_drops"] = float64(got.BufferDrops), float64(got.Lost-got.BufferDrops)
	}
	t.addSteps("rate", got.Series, 1)
	return t
}

// packetsSent is what every run of datagrams measures at the sender.
func packetsSent(sent udp.Sent) Tally {
	t := Tally{Metrics: map[string]float64{"sender_drops": float64(sent.Drops)}}
	if span := sent.Elapsed.Seconds(); span > 0 {
		t.Metrics["offered_rate"] = float64(sent.Datagrams) / span
	}
	return t
}
