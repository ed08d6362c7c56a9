package site

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"tare/lab"
	"tare/probe"
	"tare/protocol"
)

// KeeperVerb is the hidden command that runs a keeper.
const KeeperVerb = "keeper"

// listenerFD is where a keeper finds its listening socket.
const listenerFD = 3

// keeper holds one lab.
type keeper struct {
	mu       sync.Mutex // one change at a time
	lab      *lab.Lab
	topology Topology
	running  map[string]running // by the cluster's name
	making   sync.WaitGroup     // containers, while the lab must not end
	made     atomic.Int64       // names for those without a network
	listener *net.UnixListener
	sessions string                           // the warning that the kernel weighs the lab's sessions against each other; empty: it does not
	readers  map[*lab.Namespace]*probe.Reader // of the counters of places
}

// Keep runs the keeper: it enters its namespaces, answers on the socket that it was
// started with, and removes everything at the end.
func Keep() error {
	// The first thread leads the process: its namespaces are the ones that
	// others see, so it must never enter another.
	runtime.LockOSThread()
	if err := lab.Enter(); err != nil {
		return err
	}
	file := os.NewFile(listenerFD, "listener")
	listener, err := net.FileListener(file)
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("listen for requests: %w", err)
	}
	socket, ok := listener.(*net.UnixListener)
	if !ok {
		return errors.New("listen for requests: not a unix socket")
	}
	k := &keeper{listener: socket, readers: map[*lab.Namespace]*probe.Reader{}}
	if err := k.endWithOwner(); err != nil {
		return err
	}
	go k.endAtSignal()
	return errors.Join(k.accept(), k.takeDown())
}

// endWithOwner ends the keeper in order once its owner has ended: the parent-death signal is
// lost where the owner is killed before this process has asked for it. A keeper with an owner
// has a pipe as its standard input, whose other end the owner holds.
func (k *keeper) endWithOwner() error {
	info, err := os.Stdin.Stat()
	if err != nil {
		return fmt.Errorf("look for the keeper's owner: %w", err)
	}
	if info.Mode()&os.ModeNamedPipe != 0 {
		go func() {
			_, err := io.Copy(io.Discard, os.Stdin) // nobody writes
			if err = errors.Join(err, k.end()); err != nil {
				fmt.Fprintf(os.Stderr, "tare keeper: %v\n", err)
			}
		}()
	}
	return nil
}

// end takes the lab down. Nobody listens only once all has gone: that is how others see it.
func (k *keeper) end() error { return errors.Join(k.takeDown(), k.listener.Close()) }

// endAtSignal ends the keeper in order at a signal: an init receives only signals
// for which it has a handler.
func (k *keeper) endAtSignal() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	<-signals
	if err := k.end(); err != nil {
		fmt.Fprintf(os.Stderr, "tare keeper: %v\n", err)
	}
}

// accept answers until the lab is taken down.
func (k *keeper) accept() error {
	for {
		conn, err := k.listener.AcceptUnix()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("accept request: %w", err)
		}
		go k.converse(newConversation(conn))
	}
}

// converse answers one request. The keeper trusts its own user only. It is no error
// if the other side hangs up.
func (k *keeper) converse(c conversation) {
	defer c.conn.Close()
	if err := sameUser(c.conn.UnixConn); err != nil {
		k.refuse(c, err)
		return
	}
	var greeting protocol.Greeting
	var req request
	err := c.Read(&greeting)
	if err == nil && greeting.Schema != keeperSchema {
		err = fmt.Errorf("the protocol of this tare is %q and that of the lab is %q", greeting.Schema, keeperSchema)
	}
	if err == nil {
		err = c.Read(&req)
	}
	files := c.conn.came
	defer func() {
		for _, file := range files {
			file.Close()
		}
	}()
	if err != nil {
		k.refuse(c, err)
		return
	}
	if err := k.answer(c, req, files); err != nil {
		k.refuse(c, err)
	}
}

// refuse sends the other side the reason, unless it has hung up.
func (k *keeper) refuse(c conversation, err error) {
	if sendErr := c.Write(protocol.Reply{Error: err.Error()}); sendErr != nil && !errors.Is(sendErr, unix.EPIPE) {
		fmt.Fprintf(os.Stderr, "tare keeper: %v; and could not send that: %v\n", err, sendErr)
	}
}

// sameUser refuses peers of another user than the keeper's.
func sameUser(conn *net.UnixConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var peer *unix.Ucred
	var credErr error
	err = raw.Control(func(fd uintptr) {
		peer, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err = errors.Join(err, credErr); err != nil {
		return fmt.Errorf("read peer: %w", err)
	}
	if peer.Uid != uint32(os.Getuid()) {
		return errors.New("this lab belongs to another user")
	}
	return nil
}

func (k *keeper) answer(c conversation, req request, files []*os.File) (err error) {
	var r reply
	switch req.Do {
	case doBuild:
		topology, failed := k.build(req.Spec)
		r.Topology, err = &topology, failed
	case doShow:
		k.mu.Lock()
		r.Topology = new(k.topology)
		k.mu.Unlock()
	case doLook:
		r.Inventory, err = k.look(req.At)
	case doProbe:
		r.Probed, err = k.probe()
	case doStart:
		return k.start(c, req, files)
	case doWatch:
		return k.watch(c, req)
	case doCount:
		return k.count(c, req)
	case doStates:
		states, failed := k.states(req.Places)
		r.Counted, err = &states, failed
	case doUsage:
		r.Usage, err = k.usage()
	case doLost:
		r.Lost = k.lost()
	case doAttach, doLifecycle:
		operation, failed := k.operate(req)
		r.Operation, err = &operation, failed
	case doDown:
		err := errors.Join(k.takeDown(), c.Write(reply{}))
		return errors.Join(err, k.listener.Close())
	default:
		return req.Unknown("keeper")
	}
	if err != nil {
		return err
	}
	return c.Write(r)
}

// takeDown removes what was built. A second call does nothing.
func (k *keeper) takeDown() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.lab == nil {
		return nil
	}
	k.running = nil
	k.making.Wait()
	err := errors.Join(k.closeReaders(), k.lab.Close())
	k.lab, k.topology.Clusters = nil, nil
	return err
}

// look reads one namespace, or all of them.
func (k *keeper) look(at string) ([]probe.Inventory, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.lab == nil {
		return nil, errors.New("the lab is not built")
	}
	names := k.topology.Namespaces
	if at != "" {
		names = []string{at}
	}
	var all []probe.Inventory
	for _, name := range names {
		ns, err := k.lab.Find(k.topology.Full(name))
		if err != nil {
			return nil, err
		}
		var held probe.Inventory
		if err := ns.Do(func() (err error) { held, err = probe.Inspect("/"); return err }); err != nil {
			return nil, fmt.Errorf("look at %s: %w", ns.Name, err)
		}
		held.Namespace, held.CPUs = ns.Name, ns.CPUs.String()
		all = append(all, held)
	}
	return all, nil
}

// start starts a process, waits for its end and forwards signals to it. When the
// other side hangs up the process is killed.
func (k *keeper) start(c conversation, req request, files []*os.File) error {
	if len(files) != 3 || len(req.Argv) == 0 {
		return errors.New("start: a command and three descriptors are needed")
	}
	process, err := k.startIn(req, [3]*os.File(files))
	if err != nil {
		return err
	}
	for _, file := range files {
		file.Close()
	}
	if err := c.Write(reply{Started: true}); err != nil {
		return errors.Join(err, process.Signal(syscall.SIGKILL))
	}
	go passSignals(c, process)
	<-process.Done
	exit := exitStatus(process.Status)
	return c.Write(reply{Exit: &exit})
}

// startIn starts a process in a namespace: a change of the lab, since the
// first one in a namespace makes its mounts.
func (k *keeper) startIn(req request, files [3]*os.File) (*lab.Process, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.lab == nil {
		return nil, errors.New("the lab is not built")
	}
	ns, err := k.lab.Find(k.topology.Full(req.At))
	if err != nil {
		return nil, err
	}
	return k.lab.Processes.Start(ns, lab.Command{Argv: req.Argv, Env: req.Env, Dir: req.Dir, Files: files})
}

// passSignals sends the process the signals that the other side asks for, and kills
// it when that side hangs up.
func passSignals(c conversation, process *lab.Process) {
	for {
		var req request
		err := c.Read(&req)
		select {
		case <-process.Done:
			return
		default:
		}
		pass := process.End
		if err == nil {
			pass = func() error { return process.Signal(syscall.Signal(req.Signal)) }
		}
		if sigErr := pass(); sigErr != nil {
			fmt.Fprintf(os.Stderr, "tare keeper: signal process: %v\n", sigErr)
		}
		if err != nil {
			return
		}
	}
}

// exitStatus is what a shell would report.
func exitStatus(status syscall.WaitStatus) int {
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return status.ExitStatus()
}
