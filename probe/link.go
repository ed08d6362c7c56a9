package probe

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"

	"golang.org/x/sys/unix"
)

// linkStats counts what each device passed and dropped.
func linkStats() Probe {
	return Probe{
		Name: "link", Doc: "packets, bytes, drops and errors of each device", Scope: Namespace, Source: "ip -s -s link",
		count: parsedFrom((*view).links, parseLinkStats),
	}
}

// links reads the settings of each device.
func links() Probe {
	return Probe{
		Name: "links", Doc: "kind, MTU, state, queue and bridge of each device", Scope: Namespace, Source: "ip -d link",
		look: parsedFrom((*view).links, parseLinks),
	}
}

var errNoDevices = errors.New("parse devices: none: is this the kernel's answer?")

// The counters of struct rtnl_link_stats64, in their order
// (include/uapi/linux/if_link.h). An older kernel has fewer.
func linkCounters() []string {
	return []string{
		"rx_packets", "tx_packets", "rx_bytes", "tx_bytes", "rx_errors", "tx_errors", "rx_dropped", "tx_dropped",
		"multicast", "collisions", "rx_length_errors", "rx_over_errors", "rx_crc_errors", "rx_frame_errors",
		"rx_fifo_errors", "rx_missed_errors", "tx_aborted_errors", "tx_carrier_errors", "tx_fifo_errors",
		"tx_heartbeat_errors", "tx_window_errors", "rx_compressed", "tx_compressed", "rx_nohandler", "rx_otherhost_dropped",
	}
}

// parseLinkStats reads the answer to RTM_GETLINK. A name is the device's and
// the counter's: "eth0.rx_dropped". Zeros are left out.
func parseLinkStats(dumped []byte) (map[string]float64, error) {
	counters, devices := map[string]float64{}, 0
	names := linkCounters()
	for m := range messages(dumped) {
		if m.kind != unix.RTM_NEWLINK || len(m.body) < unix.SizeofIfInfomsg {
			continue
		}
		device, stats := "", []byte(nil)
		for kind, value := range attributes(m.body, unix.SizeofIfInfomsg) {
			switch kind {
			case unix.IFLA_IFNAME:
				device = word(value)
			case unix.IFLA_STATS64:
				stats = value
			}
		}
		if device == "" {
			return nil, errors.New("parse devices: one has no name")
		}
		for n := 0; n < len(names) && 8*n+8 <= len(stats); n++ {
			if value := binary.NativeEndian.Uint64(stats[8*n:]); value != 0 {
				counters[device+"."+names[n]] = float64(value)
			}
		}
		devices++
	}
	if devices == 0 {
		return nil, errNoDevices
	}
	return counters, nil
}

// Link is one device.
type Link struct {
	Name      string         `json:"name"`
	Index     int            `json:"index"`
	Kind      string         `json:"kind"`
	MAC       string         `json:"mac"`
	MTU       int            `json:"mtu"`
	Up        bool           `json:"up"`
	Bridge    string         `json:"bridge,omitempty"` // that it is a port of
	Addresses []netip.Prefix `json:"addresses"`        // IPv4
	NIC
	RxPackets uint64 `json:"rx_packets"`
	TxPackets uint64 `json:"tx_packets"`
	RxBytes   uint64 `json:"rx_bytes"`
	TxBytes   uint64 `json:"tx_bytes"`
	Dropped   uint64 `json:"dropped"` // packets, both ways, errors included
}

// device is what a message reports of one: the link without its addresses, and
// further settings by name.
type device struct {
	Link
	master   uint32
	peer     uint32 // of a pair, or the device below; in another namespace maybe
	settings map[string]any
}

// parseLinks reads the settings of each device: "eth0.mtu" (bytes), "eth0.kind",
// "eth0.up", "eth0.running", "eth0.master", "eth0.qdisc", "eth0.txqueuelen"
// (packets), "eth0.rx_queues", "eth0.tx_queues", "eth0.gso_max_size" (bytes),
// "eth0.gso_max_segs", "eth0.mac"; "eth0.noarp" where it answers no ARP; of a pair its own
// "eth0.index" and that of its "eth0.peer"; of a bridge, a port of one and a macvlan what parseBridge, parsePort and parseMacvlan add; of a VXLAN "vxlan0.vni", "vxlan0.port".
func parseLinks(dumped []byte) (map[string]any, error) {
	devices, err := parseDevices(dumped)
	if err != nil {
		return nil, err
	}
	values := map[string]any{}
	for _, d := range devices {
		for name, value := range d.settings {
			values[d.Name+"."+name] = value
		}
		values[d.Name+".mtu"], values[d.Name+".up"] = uint32(d.MTU), d.Up
		for name, text := range map[string]string{"kind": d.Kind, "mac": d.MAC, "master": d.Bridge} {
			if text != "" {
				values[d.Name+"."+name] = text
			}
		}
	}
	return values, nil
}

// parseDevices reads the answer to RTM_GETLINK.
func parseDevices(dumped []byte) ([]device, error) {
	var devices []device
	names := map[uint32]string{}
	for m := range messages(dumped) {
		if m.kind != unix.RTM_NEWLINK || len(m.body) < unix.SizeofIfInfomsg {
			continue
		}
		d := parseLink(m.body)
		if d.Name == "" {
			return nil, errors.New("parse devices: one has no name")
		}
		names[uint32(d.Index)] = d.Name
		devices = append(devices, d)
	}
	if len(devices) == 0 {
		return nil, errNoDevices
	}
	for n := range devices {
		devices[n].Bridge = names[devices[n].master]
	}
	return devices, nil
}

func parseLink(body []byte) device {
	flags := number32(body[8:])
	d := device{
		Link:     Link{Index: int(number32(body[4:])), Up: flags&unix.IFF_UP != 0},
		settings: map[string]any{"running": flags&unix.IFF_RUNNING != 0},
	}
	if flags&unix.IFF_NOARP != 0 {
		d.settings["noarp"] = true
	}
	for kind, value := range attributes(body, unix.SizeofIfInfomsg) {
		switch kind {
		case unix.IFLA_IFNAME:
			d.Name = word(value)
		case unix.IFLA_MASTER:
			d.master = number32(value)
		case unix.IFLA_MTU:
			d.MTU = int(number32(value))
		case unix.IFLA_ADDRESS:
			d.MAC = net.HardwareAddr(value).String()
		case unix.IFLA_QDISC:
			d.settings["qdisc"] = word(value)
		case unix.IFLA_TXQLEN:
			d.settings["txqueuelen"] = number32(value)
		case unix.IFLA_NUM_RX_QUEUES:
			d.settings["rx_queues"] = number32(value)
		case unix.IFLA_NUM_TX_QUEUES:
			d.settings["tx_queues"] = number32(value)
		case unix.IFLA_GSO_MAX_SIZE:
			d.settings["gso_max_size"] = number32(value)
		case unix.IFLA_GSO_MAX_SEGS:
			d.settings["gso_max_segs"] = number32(value)
		case unix.IFLA_LINK:
			d.peer = number32(value)
		case unix.IFLA_STATS64:
			d.addStats(value)
		case unix.IFLA_LINKINFO:
			d.addInfo(value)
		}
	}
	switch d.Kind {
	case "veth":
		d.settings["index"], d.settings["peer"] = uint32(d.Index), d.peer
	case "vxlan":
		d.settings["index"] = uint32(d.Index)
	}
	return d
}

// addStats takes the counters of struct rtnl_link_stats64.
func (d *device) addStats(stats []byte) {
	var counts [8]uint64
	for n := 0; n < len(counts) && 8*n+8 <= len(stats); n++ {
		counts[n] = binary.NativeEndian.Uint64(stats[8*n:])
	}
	d.RxPackets, d.TxPackets, d.RxBytes, d.TxBytes = counts[0], counts[1], counts[2], counts[3]
	d.Dropped = counts[4] + counts[5] + counts[6] + counts[7]
}

// addInfo takes the device's kind, and what only its kind has.
func (d *device) addInfo(info []byte) {
	var data, slave []byte
	port := ""
	for kind, value := range attributes(info, 0) {
		switch kind {
		case unix.IFLA_INFO_KIND:
			d.Kind = word(value)
		case unix.IFLA_INFO_DATA:
			data = value
		case unix.IFLA_INFO_SLAVE_KIND:
			port = word(value)
		case unix.IFLA_INFO_SLAVE_DATA:
			slave = value
		}
	}
	if d.Kind == "vxlan" {
		parseVXLAN(d.settings, data)
	}
	switch d.Kind {
	case "bridge":
		parseBridge(d.settings, data)
	case "macvlan":
		parseMacvlan(d.settings, data)
	}
	if port == "bridge" {
		parsePort(d.settings, slave)
	}
}

// parseBridge adds what a bridge does besides: the spanning tree protocol, and handing what it
// passes to iptables, whatever bridge-nf-call-iptables says.
func parseBridge(values map[string]any, data []byte) {
	for kind, value := range attributes(data, 0) {
		switch {
		case len(value) == 0 || value[0] == 0:
		case kind == unix.IFLA_BR_STP_STATE:
			values["stp"] = true
		case kind == unix.IFLA_BR_NF_CALL_IPTABLES:
			values["nf_call_iptables"] = true
		}
	}
}

// parseMacvlan adds the mode of a macvlan, where it is not that of a bridge.
func parseMacvlan(values map[string]any, data []byte) {
	modes := map[uint32]string{1: "private", 2: "vepa", 8: "passthru", 16: "source"}
	for kind, value := range attributes(data, 0) {
		if kind == unix.IFLA_MACVLAN_MODE && modes[number32(value)] != "" {
			values["mode"] = modes[number32(value)]
		}
	}
}

// parsePort adds what a port of a bridge does not do as usual: its state where it does
// not forward, and what bridge(8) calls isolated, locked, learning, flood and bcast_flood.
func parsePort(values map[string]any, data []byte) {
	states := []string{"disabled", "listening", "learning", "forwarding", "blocking"}
	for kind, value := range attributes(data, 0) {
		if len(value) == 0 {
			continue
		}
		set := value[0] != 0
		switch kind {
		case unix.IFLA_BRPORT_STATE:
			if int(value[0]) < len(states) && states[value[0]] != "forwarding" {
				values["state"] = states[value[0]]
			}
		case unix.IFLA_BRPORT_ISOLATED:
			if set {
				values["isolated"] = true
			}
		case unix.IFLA_BRPORT_LOCKED:
			if set {
				values["locked"] = true
			}
		case unix.IFLA_BRPORT_BCAST_FLOOD:
			if !set {
				values["bcast_flood"] = false
			}
		case unix.IFLA_BRPORT_LEARNING:
			if !set {
				values["learning"] = false
			}
		case unix.IFLA_BRPORT_UNICAST_FLOOD:
			if !set {
				values["flood"] = false
			}
		case unix.IFLA_BRPORT_MODE:
			if set {
				values["hairpin"] = true
			}
		}
	}
}

// parseVXLAN adds the network and the UDP port of a VXLAN, its own end, and whether it
// learns and answers ARP by what it knows.
func parseVXLAN(values map[string]any, data []byte) {
	for kind, value := range attributes(data, 0) {
		switch {
		case kind == unix.IFLA_VXLAN_ID:
			values["vni"] = number32(value)
		case kind == unix.IFLA_VXLAN_PORT && len(value) >= 2:
			values["port"] = binary.BigEndian.Uint16(value)
		case kind == unix.IFLA_VXLAN_LOCAL || kind == unix.IFLA_VXLAN_LOCAL6:
			if local, is := netip.AddrFromSlice(value); is && !local.IsUnspecified() {
				values["local"] = local.String()
			}
		case kind == unix.IFLA_VXLAN_LEARNING && len(value) > 0 && value[0] == 0:
			values["nolearning"] = true
		case kind == unix.IFLA_VXLAN_PROXY && len(value) > 0 && value[0] != 0:
			values["proxy"] = true
		}
	}
}
