package containerd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"tare/engine"
	"tare/lab"
)

// Pod is a sandbox, whose containers share its network.
type Pod struct {
	id     string
	addr   netip.Addr
	config *cri.PodSandboxConfig
}

// Run runs a pod whose ports are published on its host, and a first container in
// it, which it adopts as in. The pod is removed when in is detached.
func (c *Client) Run(in *lab.Container, ports []engine.Port) (Pod, error) {
	p, err := c.run(fmt.Sprintf("pod%d", in.Number), cri.NamespaceMode_POD, ports)
	if err != nil {
		return p, err
	}
	in.Detach.Push(func() error { return c.remove(p) })
	id, err := c.add(p, "first")
	if err != nil {
		return p, err
	}
	return p, c.adopt(in, p, id)
}

// Join runs a second container in a pod, and adopts it as in.
func (c *Client) Join(in *lab.Container, p Pod) error {
	id, err := c.add(p, "second")
	if err != nil {
		return err
	}
	return c.adopt(in, p, id)
}

// run runs a pod whose ports are published on its host. On the node's own network
// it has the host's address.
func (c *Client) run(name string, network cri.NamespaceMode, ports []engine.Port) (Pod, error) {
	config := &cri.PodSandboxConfig{
		Metadata:     &cri.PodSandboxMetadata{Name: name, Uid: name, Namespace: "tare"},
		LogDirectory: logs + "/" + name,
		Linux: &cri.LinuxPodSandboxConfig{
			CgroupParent: c.host.Cgroup(),
			SecurityContext: &cri.LinuxSandboxSecurityContext{
				// Each container has a PID namespace, as in Kubernetes.
				NamespaceOptions: &cri.NamespaceOption{Pid: cri.NamespaceMode_CONTAINER, Network: network},
			},
		},
	}
	if network != cri.NamespaceMode_NODE { // else its name is the node's
		config.Hostname = name
	}
	for _, port := range ports {
		protocol := cri.Protocol_TCP
		if port.Protocol == "udp" {
			protocol = cri.Protocol_UDP
		}
		config.PortMappings = append(config.PortMappings, &cri.PortMapping{
			Protocol: protocol, ContainerPort: int32(port.Container), HostPort: int32(port.Host),
		})
	}
	ctx, cancel := context.WithTimeout(context.Background(), engine.RequestTimeout)
	defer cancel()
	started, err := c.runtime.RunPodSandbox(ctx, &cri.RunPodSandboxRequest{Config: config})
	if err != nil {
		return Pod{}, fmt.Errorf("run %s in %s: %w", name, c.host.Name, err)
	}
	p := Pod{id: started.GetPodSandboxId(), addr: c.host.Addr, config: config}
	if network == cri.NamespaceMode_NODE {
		return p, nil
	}
	reply, err := c.runtime.PodSandboxStatus(ctx, &cri.PodSandboxStatusRequest{PodSandboxId: p.id})
	if err != nil {
		return Pod{}, errors.Join(fmt.Errorf("ask for address of %s in %s: %w", name, c.host.Name, err), c.remove(p))
	}
	if p.addr, err = netip.ParseAddr(reply.GetStatus().GetNetwork().GetIp()); err != nil {
		return Pod{}, errors.Join(fmt.Errorf("read address of %s in %s: %w", name, c.host.Name, err), c.remove(p))
	}
	return p, nil
}

// remove stops and removes a pod with its containers: first its network, by the
// plugins that made it.
func (c *Client) remove(p Pod) error {
	ctx, cancel := context.WithTimeout(context.Background(), engine.RequestTimeout)
	defer cancel()
	if _, err := c.runtime.StopPodSandbox(ctx, &cri.StopPodSandboxRequest{PodSandboxId: p.id}); err != nil {
		return fmt.Errorf("stop %s in %s: %w", p.name(), c.host.Name, err)
	}
	if _, err := c.runtime.RemovePodSandbox(ctx, &cri.RemovePodSandboxRequest{PodSandboxId: p.id}); err != nil {
		return fmt.Errorf("remove %s in %s: %w", p.name(), c.host.Name, err)
	}
	return nil
}

func (p Pod) name() string { return p.config.GetMetadata().GetName() }

// add starts a container in a pod, on its host's CPUs.
func (c *Client) add(p Pod, name string) (id string, err error) {
	shared, err := engine.Mounts()
	if err != nil {
		return "", err
	}
	var mounts []*cri.Mount
	for _, m := range shared {
		mounts = append(mounts, &cri.Mount{ContainerPath: m.At, HostPath: m.From, Readonly: true})
	}
	ctx, cancel := context.WithTimeout(context.Background(), engine.RequestTimeout)
	defer cancel()
	created, err := c.runtime.CreateContainer(ctx, &cri.CreateContainerRequest{
		PodSandboxId: p.id, SandboxConfig: p.config,
		Config: &cri.ContainerConfig{
			Metadata: &cri.ContainerMetadata{Name: name},
			Image:    &cri.ImageSpec{Image: engine.ImageName},
			Command:  engine.WaitCommand(),
			LogPath:  name + ".log",
			Mounts:   mounts,
			Linux: &cri.LinuxContainerConfig{
				Resources:       &cri.LinuxContainerResources{CpusetCpus: c.host.CPUs.String()},
				SecurityContext: &cri.LinuxContainerSecurityContext{NamespaceOptions: p.config.GetLinux().GetSecurityContext().GetNamespaceOptions()},
			},
		},
	})
	if err != nil {
		return "", fmt.Errorf("create container %s in %s of %s: %w", name, p.name(), c.host.Name, err)
	}
	id = created.GetContainerId()
	if _, err := c.runtime.StartContainer(ctx, &cri.StartContainerRequest{ContainerId: id}); err != nil {
		return "", fmt.Errorf("start container %s in %s of %s: %w", name, p.name(), c.host.Name, err)
	}
	return id, nil
}

// adopt adopts a container that add started.
func (c *Client) adopt(in *lab.Container, p Pod, id string) error {
	ctx, cancel := context.WithTimeout(context.Background(), engine.RequestTimeout)
	defer cancel()
	pid, err := c.processOf(ctx, id)
	if err != nil {
		return fmt.Errorf("find container of %s in %s: %w", p.name(), c.host.Name, err)
	}
	in.Addr = p.addr
	return in.Adopt(pid, lab.Self, ExecVerb, "--", id)
}

// processOf returns the PID of a container's first process. CRI has no field for
// it; containerd reports it in its verbose status.
func (c *Client) processOf(ctx context.Context, id string) (int, error) {
	reply, err := c.runtime.ContainerStatus(ctx, &cri.ContainerStatusRequest{ContainerId: id, Verbose: true})
	if err != nil {
		return 0, err
	}
	var info struct{ PID int }
	if err := json.Unmarshal([]byte(reply.GetInfo()["info"]), &info); err != nil {
		return 0, fmt.Errorf("read status: %w", err)
	}
	if info.PID <= 0 {
		return 0, errors.New("read status: it has no PID")
	}
	return info.PID, nil
}
