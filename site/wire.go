package site

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	"golang.org/x/sys/unix"

	"tare/lab"
	"tare/probe"
	"tare/workload"
)

// request is the first line of a conversation with a keeper.
type request struct {
	Do     string   `json:"do"`
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
	doStart     = "start"     // start a process; three descriptors come along
	doWatch     = "watch"     // which devices of the places see a flow, until the next line
	doCount     = "count"     // the counters of places, from now until the next line
	doStates    = "states"    // the states of places
	doUsage     = "usage"     // the CPU time of what runs in the lab
	doLost      = "lost"      // the clusters that no longer are what is weighed
	doProbe     = "probe"     // which networks this machine can set up
	doAttach    = "attach"    // make a container on a path, and remove it
	doLifecycle = "lifecycle" // make a container without a network, and remove it
	doDown      = "down"      // remove everything and end
)

// reply is a keeper's line.
type reply struct {
	Error     string              `json:"error,omitempty"`
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

// conversation is one request and its replies.
type conversation struct {
	conn *net.UnixConn
	rest []byte // received and not yet read
}

// maxLine bounds a line between a keeper and its peer.
const maxLine = 64 << 20

// send writes one line, with descriptors where there are any.
func (c *conversation) send(v any, files ...*os.File) error {
	line, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	var rights []byte
	if len(files) > 0 {
		fds := make([]int, len(files))
		for n, file := range files {
			fds[n] = int(file.Fd())
		}
		rights = unix.UnixRights(fds...)
	}
	line = append(line, '\n')
	n, _, err := c.conn.WriteMsgUnix(line, rights, nil)
	if err == nil && n < len(line) {
		_, err = c.conn.Write(line[n:])
	}
	return err
}

// receive reads one line, and the descriptors that came with it.
func (c *conversation) receive(v any) (files []*os.File, err error) {
	buf, oob := make([]byte, 64<<10), make([]byte, 256)
	for looked := 0; ; { // up to there is no end of the line
		if line, rest, whole := bytes.Cut(c.rest[looked:], []byte("\n")); whole {
			line, c.rest = c.rest[:looked+len(line)], rest
			return files, json.Unmarshal(line, v)
		}
		looked = len(c.rest)
		n, oobn, _, _, err := c.conn.ReadMsgUnix(buf, oob)
		got, errRights := parseRights(oob[:oobn])
		files = append(files, got...)
		if err = errors.Join(err, errRights); err != nil {
			return files, err
		}
		if n == 0 {
			return files, io.EOF
		}
		if c.rest = append(c.rest, buf[:n]...); len(c.rest) > maxLine {
			return files, errors.New("line too long")
		}
	}
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
