package containerd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"tare/engine"
	"tare/lab"
)

const (
	// namespace is containerd's namespace of all that its CRI service makes.
	namespace = "k8s.io"

	statusTimeout = 2 * time.Second       // of a service that is starting
	imageStep     = 10 * time.Millisecond // between two looks for the image
)

// Client is a client of a host's containerd by the Container Runtime Interface
// (CRI v1).
type Client struct {
	host    *lab.Host
	conn    *grpc.ClientConn
	runtime cri.RuntimeServiceClient
	images  cri.ImageServiceClient
}

// open makes a client of the service on the host's socket. It connects at the
// first request.
func open(h *lab.Host) (*Client, error) {
	dial := func(context.Context, string) (net.Conn, error) { return engine.DialUnix(h, socket) }
	conn, err := grpc.NewClient("passthrough:///containerd",
		grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithContextDialer(dial), grpc.WithNoProxy())
	if err != nil {
		return nil, fmt.Errorf("open CRI service of %s: %w", h.Name, err)
	}
	return &Client{h, conn, cri.NewRuntimeServiceClient(conn), cri.NewImageServiceClient(conn)}, nil
}

// Close closes the connection to the service.
func (c *Client) Close() error { return c.conn.Close() }

// ready fails unless the service can run pods and give them networks.
func (c *Client) ready() error {
	ctx, cancel := context.WithTimeout(context.Background(), statusTimeout)
	defer cancel()
	reply, err := c.runtime.Status(ctx, &cri.StatusRequest{})
	if err != nil {
		return fmt.Errorf("ask for status: %w", err)
	}
	for _, condition := range reply.GetStatus().GetConditions() {
		if !condition.GetStatus() {
			return fmt.Errorf("%s is false: %s: %s", condition.GetType(), condition.GetReason(), condition.GetMessage())
		}
	}
	return nil
}

// addImage imports the image of a lab's containers, and waits until the CRI service
// lists it.
func (c *Client) addImage() error {
	ctr, err := engine.Program("ctr")
	if err != nil {
		return err
	}
	path, err := engine.WriteImage(c.host)
	if err != nil {
		return err
	}
	_, err = c.host.Run(ctr, "--address", socket, "--namespace", namespace, "images", "import", path)
	if err != nil {
		return err
	}
	// An image that was imported need not take memory twice.
	if err := c.host.Inside(func() error { return os.Remove(path) }); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), engine.RequestTimeout)
	defer cancel()
	for ; ; time.Sleep(imageStep) {
		reply, err := c.images.ImageStatus(ctx, &cri.ImageStatusRequest{Image: &cri.ImageSpec{Image: engine.ImageName}})
		if err != nil {
			return fmt.Errorf("look for image %s in %s: %w", engine.ImageName, c.host.Name, err)
		}
		if reply.GetImage() != nil {
			return nil
		}
	}
}

// Cycle runs a pod on the node's own network with one container: all work of a
// pod but that for its network. remove deletes it. If Cycle fails, no pod is
// left.
func Cycle(h *lab.Host, name string) (remove func() error, err error) {
	c, err := open(h)
	if err != nil {
		return nil, err
	}
	p, err := c.run(name, cri.NamespaceMode_NODE, nil)
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	remove = func() error { return errors.Join(c.remove(p), c.Close()) }
	if _, err := c.add(p, "first"); err != nil {
		return nil, errors.Join(err, remove())
	}
	return remove, nil
}
