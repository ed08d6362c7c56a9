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
	Apart          bool     // the ends are on two machines
	Warnings       []string // of what lies between the ends
}

// Sample joins the tallies of both ends. The CPU time is that of the machine, of which the
// end that owns the window measures it; of two machines it is that of both, or of one,
// which a warning names.
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
		if tally.CPU != nil && tally.CPU.Over == 0 {
			s.Counters["window"] = tally.Window.Seconds()
			s.Counters["work"] = tally.Work
			if tally.CPU.Each != nil {
				s.Readings = append(s.Readings, result.Reading{Source: probe.CPUSource, Counts: tally.CPU.Each})
			}
		}
	}
	s.Warnings = append(s.Warnings, o.Warnings...)
	o.addCPU(&s)
	return s
}

// addCPU adds the CPU time of a sample's window, if some end owns it.
func (o Outcome) addCPU(s *result.Sample) {
	window, owned := s.Counters["window"]
	var whose []string
	for n, cpu := range []*workload.CPU{o.Server.CPU, o.Client.CPU} {
		if cpu == nil || !owned {
			continue
		}
		part := 1.0
		if cpu.Over > 0 {
			part = window / cpu.Over
		}
		s.Counters["cpu_busy"] += part * cpu.Busy
		s.Counters["cpu_steal"] += part * cpu.Steal
		if o.Apart {
			end := []string{"server", "sender"}[n]
			s.Counters["cpu_busy_"+end] = part * cpu.Busy
			whose = append(whose, end)
		}
	}
	if len(whose) == 1 {
		s.Warnings = append(s.Warnings, "cpu-of-one-end: the CPU time is that of the "+whose[0]+"'s machine alone, not of both")
	}
}

// CC is the congestion control that the ends read back; empty: none did.
func (o Outcome) CC() string {
	if o.Client.CC != "" {
		return o.Client.CC
	}
	return o.Server.CC
}
