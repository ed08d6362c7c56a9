package grpc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"tare/traffic"
)

// Serve serves one grpc, by grpc-go as it comes.
func Serve(ctx context.Context, l *traffic.Listener, c Options) (_ traffic.Served, err error) {
	defer traffic.During("serve grpc", &err)
	c, err = c.checked()
	if err == nil && c.Token == nil {
		err = traffic.ErrNoToken
	}
	if err != nil {
		return traffic.Served{}, err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r := traffic.StartRun(ctx)
	defer r.End()
	a := traffic.NewAcceptor(r, l, *c.Token, traffic.GreetingLen)
	defer a.Close()
	s := traffic.Sessions{Acceptor: a, Window: c.Window}
	server, admitted := newServer(c.Size), newAdmitted(net.TCPAddrFromAddrPort(l.Addr()))
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(admitted) }()
	served, err := s.Admit(func(fd int) {
		conn, err := polledConn(fd)
		traffic.CloseSocket(fd)
		if err != nil {
			s.Leave(err)
			return
		}
		admitted.conns <- leaving{conn, sync.OnceFunc(func() { s.Leave(nil) })}
	})
	server.Stop()
	if failed := <-ended; err == nil && failed != nil {
		err = fmt.Errorf("serve calls: %w", failed)
	}
	if err != nil {
		return traffic.Served{}, err
	}
	a.Close()
	served.Unauthenticated = a.Unauthenticated
	return served, nil
}

// newServer is a server that answers each call with so many bytes, to any client.
func newServer(size int) *grpc.Server {
	response := &wrapperspb.BytesValue{Value: traffic.RandomPayload(size)}
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
		ServiceName: service,
		Methods:     []grpc.MethodDesc{{MethodName: method, Handler: call}},
		Streams:     []grpc.StreamDesc{{StreamName: streamMethod, Handler: send, ServerStreams: true}},
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
	return &admitted{make(chan net.Conn, traffic.MaxFlows), over, sync.OnceFunc(func() { close(over) }), at}
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
