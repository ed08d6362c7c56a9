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

	criWait  = 60 * time.Second      // how long one request may take
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
	dial := func(context.Context, string) (conn net.Conn, err error) {
		err = h.Inside(func() error {
			conn, err = net.Dial("unix", containerdSocket)
			return err
		})
		return conn, err
	}
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

// run starts a pod. One that is published has Port on its host too.
func (p *pods) run(name string, published bool) (pod, error) {
	config := &cri.PodSandboxConfig{
		Metadata:     &cri.PodSandboxMetadata{Name: name, Uid: name, Namespace: "tare"},
		Hostname:     name,
		LogDirectory: podLogs + "/" + name,
		Linux: &cri.LinuxPodSandboxConfig{
			CgroupParent:    p.host.Cgroup(),
			SecurityContext: &cri.LinuxSandboxSecurityContext{NamespaceOptions: ownProcesses()},
		},
	}
	if published {
		for _, protocol := range []cri.Protocol{cri.Protocol_TCP, cri.Protocol_UDP} {
			config.PortMappings = append(config.PortMappings, &cri.PortMapping{Protocol: protocol, ContainerPort: Port, HostPort: Port})
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), criWait)
	defer cancel()
	started, err := p.runtime.RunPodSandbox(ctx, &cri.RunPodSandboxRequest{Config: config})
	if err != nil {
		return pod{}, fmt.Errorf("run %s in %s: %w", name, p.host.Name, err)
	}
	reply, err := p.runtime.PodSandboxStatus(ctx, &cri.PodSandboxStatusRequest{PodSandboxId: started.GetPodSandboxId()})
	if err != nil {
		return pod{}, fmt.Errorf("ask for address of %s in %s: %w", name, p.host.Name, err)
	}
	addr, err := netip.ParseAddr(reply.GetStatus().GetNetwork().GetIp())
	if err != nil {
		return pod{}, fmt.Errorf("read address of %s in %s: %w", name, p.host.Name, err)
	}
	return pod{id: started.GetPodSandboxId(), addr: addr, config: config}, nil
}

// ownProcesses gives a container processes of its own, as Kubernetes does.
func ownProcesses() *cri.NamespaceOption {
	return &cri.NamespaceOption{Pid: cri.NamespaceMode_CONTAINER}
}

// add starts a container in a pod, on its host's CPUs, and makes it the host's
// next.
func (p *pods) add(in pod, name string) error {
	ctx, cancel := context.WithTimeout(context.Background(), criWait)
	defer cancel()
	made, err := p.runtime.CreateContainer(ctx, &cri.CreateContainerRequest{
		PodSandboxId: in.id, SandboxConfig: in.config,
		Config: &cri.ContainerConfig{
			Metadata: &cri.ContainerMetadata{Name: name},
			Image:    &cri.ImageSpec{Image: ImageName},
			Command:  []string{lab.SelfInImage, WaitVerb},
			LogPath:  name + ".log",
			Linux: &cri.LinuxContainerConfig{
				Resources:       &cri.LinuxContainerResources{CpusetCpus: p.host.CPUs.String()},
				SecurityContext: &cri.LinuxContainerSecurityContext{NamespaceOptions: ownProcesses()},
			},
		},
	})
	if err != nil {
		return fmt.Errorf("make container %s in %s of %s: %w", name, in.config.GetHostname(), p.host.Name, err)
	}
	id := made.GetContainerId()
	if _, err := p.runtime.StartContainer(ctx, &cri.StartContainerRequest{ContainerId: id}); err != nil {
		return fmt.Errorf("start container %s in %s of %s: %w", name, in.config.GetHostname(), p.host.Name, err)
	}
	pid, err := p.processOf(ctx, id)
	if err != nil {
		return fmt.Errorf("find container %s in %s of %s: %w", name, in.config.GetHostname(), p.host.Name, err)
	}
	c, err := p.host.Adopt(pid, lab.Self, PodExecVerb, "--", id)
	if err != nil {
		return err
	}
	c.Addr = in.addr
	return nil
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
