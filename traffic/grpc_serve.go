package traffic

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// ServeGRPC serves one grpc, by grpc-go as it comes.
func ServeGRPC(ctx context.Context, l *Listener, c GRPC) (_ Served, err error) {
	defer during("serve grpc", &err)
	c, err = c.checked()
	if err == nil && c.Token == nil {
		err = errNoToken
	}
	if err != nil {
		return Served{}, err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r := startRun(ctx)
	defer r.end()
	a := newAcceptor(r, l, *c.Token, greetingLen)
	defer a.close()
	s := sessions{acceptor: a, window: c.Window}
	server, admitted := newGRPCServer(c.Size), newAdmitted(net.TCPAddrFromAddrPort(l.Addr()))
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(admitted) }()
	served, err := s.admit(func(fd int) {
		conn, err := polledConn(fd)
		closeSocket(fd)
		if err != nil {
			s.leave(err)
			return
		}
		admitted.conns <- leaving{conn, sync.OnceFunc(func() { s.leave(nil) })}
	})
	server.Stop()
	if failed := <-ended; err == nil && failed != nil {
		err = fmt.Errorf("serve calls: %w", failed)
	}
	if err != nil {
		return Served{}, err
	}
	a.close()
	served.Unauthenticated = a.unauthenticated
	return served, nil
}

// newGRPCServer is a server that answers each call with so many bytes, to any client.
func newGRPCServer(size int) *grpc.Server {
	response := &wrapperspb.BytesValue{Value: randomBytes(size)}
	call := func(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		return response, decode(&wrapperspb.BytesValue{})
	}
	send := func(_ any, stream grpc.ServerStream) error {
		if err := stream.RecvMsg(&wrapperspb.BytesValue{}); err != nil {
			return err
		}
		for {
			if err := stream.SendMsg(response); err != nil {
				return err
			}
		}
	}
	server := grpc.NewServer()
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: grpcService,
		Methods:     []grpc.MethodDesc{{MethodName: grpcCall, Handler: call}},
		Streams:     []grpc.StreamDesc{{StreamName: grpcSend, Handler: send, ServerStreams: true}},
	}, nil)
	return server
}

// admitted are connections for a server, as it wants them.
type admitted struct {
	conns chan net.Conn
	over  chan struct{}
	close func()
	at    net.Addr
}

func newAdmitted(at net.Addr) *admitted {
	over := make(chan struct{})
	return &admitted{make(chan net.Conn, maxFlows), over, sync.OnceFunc(func() { close(over) }), at}
}

// Accept waits for the next connection.
func (a *admitted) Accept() (net.Conn, error) {
	select {
	case conn := <-a.conns:
		return conn, nil
	case <-a.over:
		for { // those that nobody takes any more
			select {
			case conn := <-a.conns:
				conn.Close()
			default:
				return nil, net.ErrClosed
			}
		}
	}
}

// Close ends Accept.
func (a *admitted) Close() error {
	a.close()
	return nil
}

// Addr is where the listener of the connections listens.
func (a *admitted) Addr() net.Addr { return a.at }

// leaving is a connection that reports that it is closed.
type leaving struct {
	net.Conn
	left func()
}

// Close closes it.
func (l leaving) Close() error {
	defer l.left()
	if err := l.Conn.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}
