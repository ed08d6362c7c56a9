package iperf3

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// message is what one end says: on the control connection, or first on a flow.
type message struct {
	from string // "client" or "server"
	kind string
	text string
}

const (
	saysCookie  = "cookie"  // the client, first
	saysState   = "state"   // its number
	saysRefusal = "refusal" // state -2, iperf3's error and the errno
	saysJSON    = "json"    // parameters or results
	opensTCP    = "tcp"     // a flow's connection, with the cookie
	opensUDP    = "udp"     // a flow's first datagram, or its answer, quoted
	prints      = "prints"  // what the client prints with -J: not said to the peer
)

func (m message) String() string { return strings.TrimRight(m.from+" "+m.kind+" "+m.text, " ") }

// is reports whether it is this state of this end.
func (m message) is(from string, s state) bool {
	return m == message{from, saysState, strconv.Itoa(int(s))}
}

// bytes are those on the control connection.
func (m message) bytes() []byte {
	switch m.kind {
	case saysCookie:
		return append([]byte(m.text), 0)
	case saysJSON:
		return append(binary.BigEndian.AppendUint32(nil, uint32(len(m.text))), m.text...)
	case saysRefusal:
		var code, errno uint32
		if _, err := fmt.Sscan(m.text, &code, &errno); err != nil {
			panic(err)
		}
		refused := serverError
		return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32([]byte{byte(refused)}, code), errno)
	case saysState:
		n, err := strconv.Atoi(m.text)
		if err != nil {
			panic(err)
		}
		return []byte{byte(int8(n))}
	}
	panic("not for the control connection: " + m.String())
}

// readOne reads the next message of an end that has sent its cookie. No state is 0,
// with which the length of a JSON begins.
func readOne(from string, r io.Reader) (message, error) {
	var first [1]byte
	if _, err := io.ReadFull(r, first[:]); err != nil {
		return message{}, err
	}
	switch s := state(first[0]); s {
	case 0:
		text, err := readMessage(io.MultiReader(bytes.NewReader(first[:]), r))
		return message{from, saysJSON, string(text)}, err
	case serverError:
		var why [2]int32
		err := binary.Read(r, binary.BigEndian, &why)
		return message{from, saysRefusal, fmt.Sprintf("%d %d", why[0], why[1])}, err
	default:
		return message{from, saysState, strconv.Itoa(int(s))}, nil
	}
}

// dialoguePath is where one is kept.
func dialoguePath(name string) string { return filepath.Join("testdata", "dialogues", name+".txt") }

// readDialogue reads a recorded one, without its comments.
func readDialogue(t testing.TB, name string) (said []message) {
	t.Helper()
	text, err := os.ReadFile(dialoguePath(name))
	if err != nil {
		t.Fatalf("%v; to record it: go test ./iperf3 -run TestRealDialogues -update", err)
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, len(text)+1)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		words := append(strings.SplitN(lines.Text(), " ", 3), "")
		said = append(said, message{words[0], words[1], words[2]})
	}
	return said
}

// writeDialogue keeps one. comment holds the commands.
func writeDialogue(t testing.TB, name, comment string, said []message) {
	t.Helper()
	text := "# " + comment + "\n"
	for _, m := range said {
		text += m.String() + "\n"
	}
	if err := os.MkdirAll(filepath.Dir(dialoguePath(name)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dialoguePath(name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// find returns the n-th JSON of an end, from 0 on: parameters and results of the client, results
// of the server.
func find(said []message, from string, n int) (text string, found bool) {
	for _, m := range said {
		if m.from != from || m.kind != saysJSON {
			continue
		}
		if n == 0 {
			return m.text, true
		}
		n--
	}
	return "", false
}
