package network

import (
	"errors"
	"fmt"
	"os"

	"tare/catalog"
	"tare/lab"
)

// BridgeNetfilter and bridgeNetfilter6 set whether bridged packets of IPv4 and IPv6 pass the
// rules of the namespace (br_netfilter; per namespace since Linux 5.3). Where the module is
// not loaded they don't.
const (
	BridgeNetfilter  = "net/bridge/bridge-nf-call-iptables"
	bridgeNetfilter6 = "net/bridge/bridge-nf-call-ip6tables"
)

func (n Network) settleBridge(h *lab.Host, sysctl string) error {
	want := "0"
	if n.BridgeNetfilter {
		want = "1"
	}
	got, err := h.ReadSysctl(sysctl)
	switch {
	case errors.Is(err, os.ErrNotExist) && (!n.BridgeNetfilter || n.Engine == catalog.Docker):
		return nil
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("pass bridged packets to netfilter in %s: the kernel lacks br_netfilter: modprobe br_netfilter", h.Name)
	case err != nil:
		return fmt.Errorf("read %s in %s: %w", sysctl, h.Name, err)
	case got == want:
		return nil
	}
	if err := h.Sysctl(sysctl, want); err != nil {
		return err
	}
	if got, err = h.ReadSysctl(sysctl); err != nil {
		return fmt.Errorf("read %s in %s: %w", sysctl, h.Name, err)
	}
	if got != want {
		return fmt.Errorf("set %s=%s in %s: it reads %s", sysctl, want, h.Name, got)
	}
	return nil
}
