package openvswitch

import (
	"fmt"
	"strings"

	"tare/lab"
)

// SetFlows replaces all flows of a bridge, which then does what they say and
// nothing else.
func (s *Switch) SetFlows(bridge string, flows []string) error {
	if err := s.Configure("set-fail-mode", bridge, "secure"); err != nil {
		return err
	}
	return s.flows("replace-flows", bridge, "all", flows)
}

// AddFlows adds an owner's flows to those of a bridge.
func (s *Switch) AddFlows(bridge, owner string, flows []string) error {
	return s.flows("add-flows", bridge, owner, flows)
}

// RemoveFlows removes the flows of a bridge that have a cookie.
func (s *Switch) RemoveFlows(bridge string, cookie int) error {
	return s.openFlow("del-flows", bridge, fmt.Sprintf("cookie=%d/-1", cookie))
}

// flows passes flows to ovs-ofctl in a file, which stays there to be read.
func (s *Switch) flows(command, bridge, owner string, flows []string) error {
	path := fmt.Sprintf("%s/%s-%s.flows", lab.Scratch, bridge, owner)
	if err := s.Host.WriteFile(path, []byte(strings.Join(flows, "\n")+"\n"), 0o644); err != nil {
		return err
	}
	return s.openFlow(command, bridge, path)
}

// openFlow sends a command to a bridge by OpenFlow.
func (s *Switch) openFlow(command, bridge string, args ...string) error {
	_, err := s.Host.Run(append([]string{"ovs-ofctl", "-O", "OpenFlow13", command, "unix:" + runDir + "/" + bridge + ".mgmt"}, args...)...)
	return err
}
