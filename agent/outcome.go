package agent

import (
	"maps"

	"tare/probe"
	"tare/result"
	"tare/workload"
)

// Outcome is what both ends of a run measured.
type Outcome struct {
	Server, Client workload.Tally
	Apart          bool // the ends are on two machines
}

// Sample joins the tallies of both ends. The CPU time is that of the machine, of which one
// end measures it; of two machines it is that of one, which a warning names.
func (o Outcome) Sample() result.Sample {
	s := result.Sample{Metrics: map[string]float64{}, Series: map[string][]float64{}, Counters: map[string]float64{}}
	for n, tally := range []workload.Tally{o.Server, o.Client} {
		maps.Copy(s.Metrics, tally.Metrics)
		maps.Copy(s.Series, tally.Series)
		maps.Copy(s.Counters, tally.Counters)
		if len(tally.Slots) > 0 {
			s.Slots = &result.Slots{Values: tally.Slots, Later: tally.Later}
		}
		s.Warnings = append(s.Warnings, tally.Warnings...)
		for _, r := range tally.Readings {
			r.End = []string{result.AtServer, result.AtClient}[n]
			s.Readings = append(s.Readings, r)
		}
		if tally.CPU != nil {
			s.Counters["cpu_busy"] += tally.CPU.Busy
			s.Counters["cpu_steal"] += tally.CPU.Steal
			s.Counters["window"] = tally.Window.Seconds()
			s.Counters["work"] = tally.Work
			if tally.CPU.Each != nil {
				s.Readings = append(s.Readings, result.Reading{Source: probe.CPUSource, Counts: tally.CPU.Each})
			}
			if o.Apart {
				whose := []string{"server", "sender"}[n]
				s.Warnings = append(s.Warnings, "cpu-of-one-end: the CPU time is that of the "+whose+"'s machine alone, not of both")
			}
		}
	}
	return s
}

// CC is the congestion control that the ends read back; empty: none did.
func (o Outcome) CC() string {
	if o.Client.CC != "" {
		return o.Client.CC
	}
	return o.Server.CC
}
