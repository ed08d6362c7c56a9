package traffic

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
)

// GRPCMode is what a transaction of grpc is.
type GRPCMode string

// The modes.
const (
	GRPCUnary  GRPCMode = "unary"  // a call and its response
	GRPCStream GRPCMode = "stream" // a message of a stream that the server sends
)

// GRPC is calls by grpc-go as it comes, in the clear, one outstanding on each connection: a
// closed loop. Its messages are google.protobuf.BytesValue, so that any client of gRPC can
// send and read them, and no code is generated. The greeting goes ahead of HTTP/2. The client
// owns the window.
type GRPC struct {
	Window Window
	Mode   GRPCMode // default GRPCUnary
	Flows  int      // connections; default 1, at most 1024
	Size   int      // bytes that a response or a message of the stream carries, at most MaxBody; default 1024

	// Token is the run's. A client without one talks to a server that knows no
	// greeting, and does not report the end of the run to it.
	Token *Token
}

// What is called: methods of a service, each from a BytesValue to one, or to a stream of them.
const (
	grpcService = "tare.Messages"
	grpcCall    = "Call"
	grpcSend    = "Send"
)

// checked fills the defaults in and refuses what can't be asked.
func (c GRPC) checked() (GRPC, error) {
	c.Mode = cmp.Or(c.Mode, GRPCUnary)
	c.Flows = cmp.Or(c.Flows, 1)
	c.Size = cmp.Or(c.Size, defaultBody)
	switch {
	case c.Mode != GRPCUnary && c.Mode != GRPCStream:
		return c, fmt.Errorf("mode %q: want %s or %s", c.Mode, GRPCUnary, GRPCStream)
	case c.Flows < 1 || c.Flows > maxFlows:
		return c, fmt.Errorf("%d flows: want 1 to %d", c.Flows, maxFlows)
	case c.Size < 1 || c.Size > MaxBody:
		return c, fmt.Errorf("messages of %d bytes: want 1 to %d", c.Size, MaxBody)
	}
	return c, c.Window.check(c.Flows)
}

// CallGRPC runs one grpc against a ServeGRPC.
func CallGRPC(ctx context.Context, to netip.AddrPort, c GRPC) (_ Transactions, err error) {
	defer during(fmt.Sprintf("call grpc at %v", to), &err)
	if c, err = c.checked(); err != nil {
		return Transactions{}, err
	}
	runtime.LockOSThread() // connections are opened in the namespace of this thread
	defer runtime.UnlockOSThread()
	r := startRun(ctx)
	defer r.end()
	clients := make([]*grpcClient, 0, c.Flows)
	doing := repetition{window: c.Window, timed: c.Mode == GRPCUnary}
	defer func() { closeGRPC(clients) }()
	var sockets []int
	for range c.Flows {
		k, err := newGRPCClient(r, to, c)
		if err != nil {
			return Transactions{}, r.cause(err)
		}
		clients, sockets = append(clients, k), append(sockets, k.fd)
		once := k.call
		if c.Mode == GRPCStream {
			once = k.receive
		}
		doing.once = append(doing.once, once)
	}
	name, err := congestion(sockets[0])
	if err != nil {
		return Transactions{}, err
	}
	t, err := doing.repeat(r, sockets)
	if err != nil {
		return Transactions{}, err
	}
	t.Congestion = name
	closeGRPC(clients)
	clients = nil
	if c.Token != nil {
		return t, endSessions(r, to, *c.Token)
	}
	return t, nil
}

// grpcClient is one connection of grpc.
type grpcClient struct {
	run      *run
	fd       int // of the connection's socket
	conn     *grpc.ClientConn
	request  *wrapperspb.BytesValue
	response *wrapperspb.BytesValue
	size     int
	stream   grpc.ClientStream // nil: it has not begun
}

// newGRPCClient connects, and gives the socket to grpc-go as the only one that its
// connection can have: a connection that breaks is an error.
func newGRPCClient(r *run, to netip.AddrPort, c GRPC) (_ *grpcClient, err error) {
	k := &grpcClient{run: r, request: &wrapperspb.BytesValue{}, response: &wrapperspb.BytesValue{}, size: c.Size}
	if k.fd, err = dial(r, to, c.Window.CC); err != nil {
		return nil, err
	}
	if c.Token != nil {
		err = sendAll(r, k.fd, greeting(*c.Token, verbFlow))
	}
	var socket net.Conn
	if err == nil {
		socket, err = polledConn(k.fd)
	}
	if err != nil {
		closeSocket(k.fd)
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
				return nil, errPeerClosed
			}
		}))
	if err != nil {
		socket.Close()
		closeSocket(k.fd)
		return nil, err
	}
	return k, nil
}

// call is one call.
func (k *grpcClient) call() (answered time.Duration, err error) {
	err = k.conn.Invoke(k.run.ctx, "/"+grpcService+"/"+grpcCall, k.request, k.response)
	return k.run.now(), k.due(err)
}

// receive takes one message of the stream, which the first call begins.
func (k *grpcClient) receive() (answered time.Duration, err error) {
	if k.stream == nil {
		of := &grpc.StreamDesc{StreamName: grpcSend, ServerStreams: true}
		if k.stream, err = k.conn.NewStream(k.run.ctx, of, "/"+grpcService+"/"+grpcSend); err != nil {
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
func (k *grpcClient) due(err error) error {
	if err == nil && len(k.response.Value) != k.size {
		err = fmt.Errorf("%w: %d bytes, not %d; give both ends the same size", errAnswer, len(k.response.Value), k.size)
	}
	return err
}

// closeGRPC ends the connections, with a reset, which leaves their ports to the next run.
func closeGRPC(clients []*grpcClient) {
	for _, k := range clients {
		_ = resetOnClose(k.fd) // an error leaves an ordinary close
		_ = k.conn.Close()     // its error is that it is closed already
		closeSocket(k.fd)
	}
}
