package wire_test

import (
	"fmt"

	"tare/wire"
)

func ExampleFramingToll() {
	const link, mtu = 10e9, 1500
	host := wire.TCPCeiling(link, wire.IPv4, mtu, wire.None())
	vxlan := wire.TCPCeiling(link, wire.IPv4, wire.InnerMTU(mtu, wire.VXLAN()), wire.VXLAN())
	toll, _ := wire.FramingToll(vxlan, host)
	fmt.Printf("host %.0f Mbit/s, VXLAN %.0f Mbit/s, framing toll %.1f %%\n", host/1e6, vxlan/1e6, 100*toll)
	// Output: host 9415 Mbit/s, VXLAN 9090 Mbit/s, framing toll 3.5 %
}

func ExampleUDPCeiling() {
	small := wire.UDPCeiling(1e9, wire.IPv4, 64, 1500, wire.None())
	large := wire.UDPCeiling(1e9, wire.IPv4, 8192, 1500, wire.None()) // six fragments
	fmt.Printf("%.0f datagrams/s of 64 bytes\n", small.PerSecond)
	fmt.Printf("%.1f Mbit/s in datagrams of 8192 bytes\n", large.Goodput/1e6)
	// Output:
	// 961538 datagrams/s of 64 bytes
	// 958.4 Mbit/s in datagrams of 8192 bytes
}
