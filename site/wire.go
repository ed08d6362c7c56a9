package site

import (
	"errors"
	"io"
	"net"
	"os"

	"golang.org/x/sys/unix"

	"tare/lab"
	"tare/probe"
	"tare/protocol"
	"tare/workload"
)

// keeperSchema names the protocol of keepers; both sides must use the same.
const keeperSchema = "tare.keeper/1"

// request is what a keeper is asked, one in a conversation; what follows it ends it, or is a
// signal.
type request struct {
	protocol.Request
	Spec   *Spec    `json:"spec,omitempty"`
	At     string   `json:"at,omitempty"`
	Argv   []string `json:"argv,omitempty"`
	Env    []string `json:"env,omitempty"`
	Dir    string   `json:"dir,omitempty"`
	Signal int      `json:"signal,omitempty"`
	Places []string `json:"places,omitempty"`
	Flow   lab.Flow `json:"flow,omitzero"`
	Path   string   `json:"path,omitempty"`
}

// What a keeper can be asked.
const (
	doBuild     = "build"     // build the spec
	doShow      = "show"      // the topology
	doLook      = "look"      // what the namespaces hold
	doStart     = "start"     // start a process; three descriptors come along; of an outpost: an agent
	doWatch     = "watch"     // which devices of the places see a flow, until it is cancelled
	doCount     = "count"     // the counters of places, from now until it is cancelled
	doStates    = "states"    // the states of places
	doUsage     = "usage"     // the CPU time of what runs in the lab
	doLost      = "lost"      // the clusters that no longer are what is weighed
	doProbe     = "probe"     // which networks this machine can set up
	doAttach    = "attach"    // make a container on a path, and remove it
	doLifecycle = "lifecycle" // make a container without a network, and remove it
	doDown      = "down"      // remove everything and end
)

// reply is a keeper's.
type reply struct {
	protocol.Reply
	Topology  *Topology           `json:"topology,omitempty"`
	Inventory []probe.Inventory   `json:"inventory,omitempty"`
	Probed    []Availability      `json:"probed,omitempty"`
	Seen      []lab.Sighting      `json:"seen,omitempty"`
	Usage     []lab.Usage         `json:"usage,omitempty"`
	Lost      map[string]string   `json:"lost,omitempty"` // cluster -> why
	Counted   *Counted            `json:"counted,omitempty"`
	Operation *workload.Operation `json:"operation,omitempty"`
	Started   bool                `json:"started,omitempty"`
	Exit      *int                `json:"exit,omitempty"`
}

// Availability is whether a network can be set up on this machine.
type Availability struct {
	Name     string `json:"name"`
	Fidelity string `json:"fidelity"`
	Error    string `json:"error,omitempty"`   // why not
	Missing  string `json:"missing,omitempty"` // what is lacking
	Get      string `json:"get,omitempty"`     // how to get it
	Mute     string `json:"mute,omitempty"`    // why a server that speaks first is not reached by its published ports; empty: it is
}

// conversation is one request and its replies, over a socket.
type conversation struct {
	*protocol.Stream
	conn *socket
}

func newConversation(conn *net.UnixConn) conversation {
	s := &socket{UnixConn: conn}
	return conversation{protocol.NewLines(s, s, maxMessage), s}
}

// maxMessage bounds a message between a keeper and its peer, in bytes.
const maxMessage = 64 << 20

// socket passes descriptors on with what is written and read.
type socket struct {
	*net.UnixConn
	goes []*os.File // with the next write
	came []*os.File // with what was read
}

func (s *socket) Write(line []byte) (n int, err error) {
	var rights []byte
	if len(s.goes) > 0 {
		fds := make([]int, len(s.goes))
		for n, file := range s.goes {
			fds[n] = int(file.Fd())
		}
		rights, s.goes = unix.UnixRights(fds...), nil
	}
	n, _, err = s.UnixConn.WriteMsgUnix(line, rights, nil)
	if err == nil && n < len(line) {
		rest, err := s.UnixConn.Write(line[n:])
		return n + rest, err
	}
	return n, err
}

func (s *socket) Read(p []byte) (n int, err error) {
	oob := make([]byte, 256)
	n, oobn, _, _, err := s.UnixConn.ReadMsgUnix(p, oob)
	files, errRights := parseRights(oob[:oobn])
	s.came = append(s.came, files...)
	if err = errors.Join(err, errRights); err == nil && n == 0 {
		err = io.EOF
	}
	return n, err
}

func parseRights(oob []byte) ([]*os.File, error) {
	if len(oob) == 0 {
		return nil, nil
	}
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, err
	}
	var files []*os.File
	for _, message := range messages {
		fds, err := unix.ParseUnixRights(&message)
		if err != nil {
			return files, err
		}
		for _, fd := range fds {
			unix.CloseOnExec(fd)
			files = append(files, os.NewFile(uintptr(fd), "passed"))
		}
	}
	return files, nil
}
