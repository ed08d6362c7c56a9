package network

import (
	"errors"
	"fmt"
	"os"

	"tare/lab"
)

// bridgeNetfilter sets whether bridged IPv4 packets pass the rules of the namespace
// (br_netfilter; per namespace since Linux 5.3). Where the module is not loaded
// they don't.
const bridgeNetfilter = "net/bridge/bridge-nf-call-iptables"

// settleNetfilter sets what the network declares and reads it back. Docker's
// networks use the module where the kernel has it, as dockerd does.
func (n Network) settleNetfilter(h *lab.Host) error {
	want := "0"
	if n.BridgeNetfilter {
		want = "1"
	}
	got, err := h.ReadSysctl(bridgeNetfilter)
	switch {
	case errors.Is(err, os.ErrNotExist) && (!n.BridgeNetfilter || n.Engine.Name == dockerEngine().Name):
		return nil
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("pass bridged packets to netfilter in %s: the kernel lacks br_netfilter: modprobe br_netfilter", h.Name)
	case err != nil:
		return fmt.Errorf("read %s in %s: %w", bridgeNetfilter, h.Name, err)
	case got == want:
		return nil
	}
	if err := h.Sysctl(bridgeNetfilter, want); err != nil {
		return err
	}
	if got, err = h.ReadSysctl(bridgeNetfilter); err != nil {
		return fmt.Errorf("read %s in %s: %w", bridgeNetfilter, h.Name, err)
	}
	if got != want {
		return fmt.Errorf("set %s=%s in %s: it reads %s", bridgeNetfilter, want, h.Name, got)
	}
	return nil
}
