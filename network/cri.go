package network

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"tare/lab"
)

const (
	// podNamespace is where the CRI service keeps what is its own.
	podNamespace = "k8s.io"

	criWait  = 4 * time.Minute       // how long one request may take: twice what kubelet gives it
	criStep  = 10 * time.Millisecond // how often is asked whether the image is known
	criReply = 2 * time.Second       // how long a service that starts may take to answer
)

// pods are a host's, by the Container Runtime Interface (CRI v1) of its engine.
type pods struct {
	host    *lab.Host
	conn    *grpc.ClientConn
	runtime cri.RuntimeServiceClient
	images  cri.ImageServiceClient
}

// openPods makes a client of the service on the host's socket. It connects at
// the first request.
func openPods(h *lab.Host) (*pods, error) {
	dial := func(context.Context, string) (net.Conn, error) { return dialUnix(h, containerdSocket) }
	conn, err := grpc.NewClient("passthrough:///containerd",
		grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithContextDialer(dial), grpc.WithNoProxy())
	if err != nil {
		return nil, fmt.Errorf("open CRI service of %s: %w", h.Name, err)
	}
	return &pods{h, conn, cri.NewRuntimeServiceClient(conn), cri.NewImageServiceClient(conn)}, nil
}

func (p *pods) close() error { return p.conn.Close() }

// ready tells whether the service can run pods, and they can have networks.
func (p *pods) ready() error {
	ctx, cancel := context.WithTimeout(context.Background(), criReply)
	defer cancel()
	reply, err := p.runtime.Status(ctx, &cri.StatusRequest{})
	if err != nil {
		return fmt.Errorf("ask for status: %w", err)
	}
	for _, c := range reply.GetStatus().GetConditions() {
		if !c.GetStatus() {
			return fmt.Errorf("%s is not: %s: %s", c.GetType(), c.GetReason(), c.GetMessage())
		}
	}
	return nil
}

// addImage gives the engine the image of this binary, and waits until its CRI
// service knows of it.
func (p *pods) addImage() error {
	ctr, err := Program("ctr")
	if err != nil {
		return err
	}
	path, err := writeImageTo(p.host)
	if err != nil {
		return err
	}
	_, err = p.host.Run(ctr, "--address", containerdSocket, "--namespace", podNamespace, "images", "import", path)
	if err != nil {
		return err
	}
	// What has been imported need not take memory twice.
	if err := p.host.Inside(func() error { return os.Remove(path) }); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), criWait)
	defer cancel()
	for ; ; time.Sleep(criStep) {
		reply, err := p.images.ImageStatus(ctx, &cri.ImageStatusRequest{Image: &cri.ImageSpec{Image: ImageName}})
		if err != nil {
			return fmt.Errorf("look for image %s in %s: %w", ImageName, p.host.Name, err)
		}
		if reply.GetImage() != nil {
			return nil
		}
	}
}

// pod is a sandbox, which the containers in it share a network with.
type pod struct {
	id     string
	addr   netip.Addr
	config *cri.PodSandboxConfig
}

// run starts a pod whose ports its host has too. On the node's own network it
// has no address of its own.
func (p *pods) run(name string, network cri.NamespaceMode, ports []portMap) (pod, error) {
	config := &cri.PodSandboxConfig{
		Metadata:     &cri.PodSandboxMetadata{Name: name, Uid: name, Namespace: "tare"},
		LogDirectory: podLogs + "/" + name,
		Linux: &cri.LinuxPodSandboxConfig{
			CgroupParent:    p.host.Cgroup(),
			SecurityContext: &cri.LinuxSandboxSecurityContext{NamespaceOptions: ownProcesses(network)},
		},
	}
	if network != cri.NamespaceMode_NODE { // else its name is the node's
		config.Hostname = name
	}
	for _, port := range ports {
		protocol := cri.Protocol_TCP
		if port.protocol == "udp" {
			protocol = cri.Protocol_UDP
		}
		config.PortMappings = append(config.PortMappings, &cri.PortMapping{
			Protocol: protocol, ContainerPort: int32(port.container), HostPort: int32(port.host),
		})
	}
	ctx, cancel := context.WithTimeout(context.Background(), criWait)
	defer cancel()
	started, err := p.runtime.RunPodSandbox(ctx, &cri.RunPodSandboxRequest{Config: config})
	if err != nil {
		return pod{}, fmt.Errorf("run %s in %s: %w", name, p.host.Name, err)
	}
	in := pod{id: started.GetPodSandboxId(), addr: p.host.Addr, config: config}
	if network == cri.NamespaceMode_NODE {
		return in, nil
	}
	reply, err := p.runtime.PodSandboxStatus(ctx, &cri.PodSandboxStatusRequest{PodSandboxId: in.id})
	if err != nil {
		return pod{}, errors.Join(fmt.Errorf("ask for address of %s in %s: %w", name, p.host.Name, err), p.remove(in))
	}
	if in.addr, err = netip.ParseAddr(reply.GetStatus().GetNetwork().GetIp()); err != nil {
		return pod{}, errors.Join(fmt.Errorf("read address of %s in %s: %w", name, p.host.Name, err), p.remove(in))
	}
	return in, nil
}

// remove ends a pod with all that is in it: its network first, by the plugins
// that made it.
func (p *pods) remove(in pod) error {
	ctx, cancel := context.WithTimeout(context.Background(), criWait)
	defer cancel()
	if _, err := p.runtime.StopPodSandbox(ctx, &cri.StopPodSandboxRequest{PodSandboxId: in.id}); err != nil {
		return fmt.Errorf("stop %s in %s: %w", in.config.GetMetadata().GetName(), p.host.Name, err)
	}
	if _, err := p.runtime.RemovePodSandbox(ctx, &cri.RemovePodSandboxRequest{PodSandboxId: in.id}); err != nil {
		return fmt.Errorf("remove %s in %s: %w", in.config.GetMetadata().GetName(), p.host.Name, err)
	}
	return nil
}

// ownProcesses gives a container processes of its own, as Kubernetes does.
func ownProcesses(network cri.NamespaceMode) *cri.NamespaceOption {
	return &cri.NamespaceOption{Pid: cri.NamespaceMode_CONTAINER, Network: network}
}

// add starts a container in a pod, on its host's CPUs, and gives its
// identifier.
func (p *pods) add(in pod, name string) (id string, err error) {
	folders, err := programs()
	if err != nil {
		return "", err
	}
	var mounts []*cri.Mount
	for _, folder := range folders {
		mounts = append(mounts, &cri.Mount{ContainerPath: folder, HostPath: folder, Readonly: true})
	}
	ctx, cancel := context.WithTimeout(context.Background(), criWait)
	defer cancel()
	made, err := p.runtime.CreateContainer(ctx, &cri.CreateContainerRequest{
		PodSandboxId: in.id, SandboxConfig: in.config,
		Config: &cri.ContainerConfig{
			Metadata: &cri.ContainerMetadata{Name: name},
			Image:    &cri.ImageSpec{Image: ImageName},
			Command:  []string{lab.SelfInImage, WaitVerb},
			LogPath:  name + ".log",
			Mounts:   mounts,
			Linux: &cri.LinuxContainerConfig{
				Resources:       &cri.LinuxContainerResources{CpusetCpus: p.host.CPUs.String()},
				SecurityContext: &cri.LinuxContainerSecurityContext{NamespaceOptions: in.config.GetLinux().GetSecurityContext().GetNamespaceOptions()},
			},
		},
	})
	if err != nil {
		return "", fmt.Errorf("make container %s in %s of %s: %w", name, in.config.GetMetadata().GetName(), p.host.Name, err)
	}
	id = made.GetContainerId()
	if _, err := p.runtime.StartContainer(ctx, &cri.StartContainerRequest{ContainerId: id}); err != nil {
		return "", fmt.Errorf("start container %s in %s of %s: %w", name, in.config.GetMetadata().GetName(), p.host.Name, err)
	}
	return id, nil
}

// adopt takes a container that add started.
func (p *pods) adopt(c *lab.Container, in pod, id string) error {
	ctx, cancel := context.WithTimeout(context.Background(), criWait)
	defer cancel()
	pid, err := p.processOf(ctx, id)
	if err != nil {
		return fmt.Errorf("find container of %s in %s: %w", in.config.GetMetadata().GetName(), p.host.Name, err)
	}
	c.Addr = in.addr
	return c.Adopt(pid, lab.Self, PodExecVerb, "--", id)
}

// processOf gives a container's first process. The interface has no field for
// it; containerd tells it among what it says at length.
func (p *pods) processOf(ctx context.Context, id string) (int, error) {
	reply, err := p.runtime.ContainerStatus(ctx, &cri.ContainerStatusRequest{ContainerId: id, Verbose: true})
	if err != nil {
		return 0, err
	}
	var info struct{ PID int }
	if err := json.Unmarshal([]byte(reply.GetInfo()["info"]), &info); err != nil {
		return 0, fmt.Errorf("read status: %w", err)
	}
	if info.PID <= 0 {
		return 0, errors.New("read status: it names no process")
	}
	return info.PID, nil
}
