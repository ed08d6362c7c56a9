package workload

import (
	"strings"
	"testing"

	"tare/catalog"
	"tare/result"
	"tare/test/labtest"
	"tare/traffic"
	"tare/traffic/tcpstream"
	"tare/traffic/udp"
)

// What the catalog says of a workload is what its loops, servers and clients do.
func TestWorkloadsAreAsTheCatalogSays(t *testing.T) {
	for _, w := range All() {
		labtest.Equal(t, w.Name+": makes containers", w.MakesContainers(), w.Cycle != nil)
		labtest.Equal(t, w.Name+": servers", strings.Join(w.Servers, " "), strings.Join(result.Names(w.ServedBy, func(s Server) string { return s.Name }), " "))
		labtest.Equal(t, w.Name+": clients", strings.Join(w.Tools, " "), strings.Join(result.Names(w.DrivenBy, func(c Tool) string { return c.Name }), " "))
	}
	for name, most := range map[string]int{
		"http": traffic.MaxBody, "redis": traffic.MaxBody, "loaded_rr": tcpstream.MaxProbe, "udp_rr": traffic.MaxDatagram, "udp_pps": traffic.MaxDatagram,
	} {
		w, _ := catalog.FindWorkload(name)
		labtest.Equal(t, name+": largest message", w.Size.Most, most)
	}
	pps, _ := catalog.FindWorkload("udp_pps")
	labtest.Equal(t, "flows of udp_pps", pps.Flows, udp.MaxFlows)
	labtest.Equal(t, "smallest datagram", pps.Size.Least, traffic.HeaderBytes)
}
