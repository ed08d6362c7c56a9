// Package grpc is the loops of grpc, calls and streams of grpc-go.
package grpc

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/netip"
	"runtime"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"tare/traffic"
)

// Mode is what a transaction of grpc is.
type Mode string

// The modes.
const (
	Unary  Mode = "unary"  // a call and its response
	Stream Mode = "stream" // a message of a stream that the server sends
)

// Options are those of calls by grpc-go as it comes, in the clear, one outstanding on each connection: a
// closed loop. Its messages are google.protobuf.BytesValue, so that any client of gRPC can
// send and read them, and no code is generated. The greeting goes ahead of HTTP/2. The client
// owns the window.
type Options struct {
	Window traffic.Window
	Mode   Mode // default Unary
	Flows  int  // connections; default 1, at most 1024
	Size   int  // bytes that a response or a message of the stream carries, at most MaxBody; default 1024

	// Token is the run's. A client without one talks to a server that knows no
	// greeting, and does not report the end of the run to it.
	Token *traffic.Token
}

// What is called: methods of a service, each from a BytesValue to one, or to a stream of them.
const (
	service      = "tare.Messages"
	method       = "Call"
	streamMethod = "Send"
)

// checked fills the defaults in and refuses what can't be asked.
func (c Options) checked() (Options, error) {
	c.Mode = cmp.Or(c.Mode, Unary)
	c.Flows = cmp.Or(c.Flows, 1)
	c.Size = cmp.Or(c.Size, traffic.DefaultBody)
	switch {
	case c.Mode != Unary && c.Mode != Stream:
		return c, fmt.Errorf("mode %q: want %s or %s", c.Mode, Unary, Stream)
	case c.Flows < 1 || c.Flows > traffic.MaxFlows:
		return c, fmt.Errorf("%d flows: want 1 to %d", c.Flows, traffic.MaxFlows)
	case c.Size < 1 || c.Size > traffic.MaxBody:
		return c, fmt.Errorf("messages of %d bytes: want 1 to %d", c.Size, traffic.MaxBody)
	}
	return c, c.Window.Check(c.Flows)
}

// Call runs one grpc against a Serve.
func Call(ctx context.Context, to netip.AddrPort, c Options) (_ traffic.Transactions, err error) {
	defer traffic.During(fmt.Sprintf("call grpc at %v", to), &err)
	if c, err = c.checked(); err != nil {
		return traffic.Transactions{}, err
	}
	runtime.LockOSThread() // connections are opened in the namespace of this thread
	defer runtime.UnlockOSThread()
	r := traffic.StartRun(ctx)
	defer r.End()
	clients := make([]*client, 0, c.Flows)
	doing := traffic.Repetition{Window: c.Window, Timed: c.Mode == Unary}
	defer func() { closeAll(clients) }()
	var sockets []int
	for range c.Flows {
		k, err := newClient(r, to, c)
		if err != nil {
			return traffic.Transactions{}, r.Cause(err)
		}
		clients, sockets = append(clients, k), append(sockets, k.fd)
		once := k.call
		if c.Mode == Stream {
			once = k.receive
		}
		doing.Once = append(doing.Once, once)
	}
	name, err := traffic.Congestion(sockets[0])
	if err != nil {
		return traffic.Transactions{}, err
	}
	t, err := doing.Repeat(r, sockets)
	if err != nil {
		return traffic.Transactions{}, err
	}
	t.Congestion = name
	closeAll(clients)
	clients = nil
	if c.Token != nil {
		return t, traffic.EndSessions(r, to, *c.Token)
	}
	return t, nil
}

// client is one connection of grpc.
type client struct {
	run      *traffic.Run
	fd       int // of the connection's socket
	conn     *grpc.ClientConn
	request  *wrapperspb.BytesValue
	response *wrapperspb.BytesValue
	size     int
	stream   grpc.ClientStream // nil: it has not begun
}

// newClient connects, and gives the socket to grpc-go as the only one that its
// connection can have: a connection that breaks is an error.
func newClient(r *traffic.Run, to netip.AddrPort, c Options) (_ *client, err error) {
	k := &client{run: r, request: &wrapperspb.BytesValue{}, response: &wrapperspb.BytesValue{}, size: c.Size}
	if k.fd, err = traffic.Dial(r, to, c.Window.CC); err != nil {
		return nil, err
	}
	if c.Token != nil {
		err = traffic.SendAll(r, k.fd, traffic.Greeting(*c.Token, traffic.VerbFlow))
	}
	var socket net.Conn
	if err == nil {
		socket, err = polledConn(k.fd)
	}
	if err != nil {
		traffic.CloseSocket(k.fd)
		return nil, fmt.Errorf("connect to %v: %w", to, err)
	}
	only := make(chan net.Conn, 1)
	only <- socket
	k.conn, err = grpc.NewClient("passthrough:///"+to.String(),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDisableServiceConfig(), grpc.WithIdleTimeout(0),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.DefaultConfig, MinConnectTimeout: time.Hour}), // the guard is first
		grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) {
			select {
			case socket := <-only:
				return socket, nil
			default:
				return nil, traffic.ErrPeerClosed
			}
		}))
	if err != nil {
		socket.Close()
		traffic.CloseSocket(k.fd)
		return nil, err
	}
	return k, nil
}

// call is one call.
func (k *client) call() (answered time.Duration, err error) {
	err = k.conn.Invoke(k.run.Context(), "/"+service+"/"+method, k.request, k.response)
	return k.run.Now(), k.due(err)
}

// receive takes one message of the stream, which the first call begins.
func (k *client) receive() (answered time.Duration, err error) {
	if k.stream == nil {
		of := &grpc.StreamDesc{StreamName: streamMethod, ServerStreams: true}
		if k.stream, err = k.conn.NewStream(k.run.Context(), of, "/"+service+"/"+streamMethod); err != nil {
			return 0, err
		}
		if err := k.stream.SendMsg(k.request); err != nil {
			return 0, err
		}
		if err := k.stream.CloseSend(); err != nil {
			return 0, err
		}
	}
	return 0, k.due(k.stream.RecvMsg(k.response))
}

// due is the error of a response that is not the one that is due.
func (k *client) due(err error) error {
	if err == nil && len(k.response.Value) != k.size {
		err = fmt.Errorf("%w: %d bytes, not %d; give both ends the same size", traffic.ErrAnswer, len(k.response.Value), k.size)
	}
	return err
}

// closeAll ends the connections, with a reset, which leaves their ports to the next run.
func closeAll(clients []*client) {
	for _, k := range clients {
		_ = traffic.ResetOnClose(k.fd) // an error leaves an ordinary close
		_ = k.conn.Close()             // its error is that it is closed already
		traffic.CloseSocket(k.fd)
	}
}
