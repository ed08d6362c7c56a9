package network

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"tare/lab"
)

// dockerWait is how long a request to an engine may take.
const dockerWait = 60 * time.Second

// dockerError is what an engine refuses a request with.
type dockerError struct {
	status  int
	message string
}

func (e *dockerError) Error() string { return e.message }

// askDocker asks the host's engine by its API (Docker Engine API 1.24 and
// newer), which starts no process. It sends what ask holds, unless that is nil,
// and reads the answer into reply, likewise.
func askDocker(h *lab.Host, method, path string, ask, reply any) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("ask Docker in %s: %s %s: %w", h.Name, method, path, err)
		}
	}()
	var body bytes.Buffer
	if ask != nil {
		if err := json.NewEncoder(&body).Encode(ask); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), dockerWait)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, "http://docker"+path, &body)
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	client := http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext:       func(context.Context, string, string) (net.Conn, error) { return dialUnix(h, dockerSocket) },
	}}
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(answer.Body)
	if err = errors.Join(err, answer.Body.Close()); err != nil {
		return err
	}
	if answer.StatusCode >= http.StatusBadRequest {
		var said struct{ Message string }
		if err := json.Unmarshal(text, &said); err != nil || said.Message == "" {
			said.Message = answer.Status
		}
		return &dockerError{answer.StatusCode, said.Message}
	}
	if reply == nil {
		return nil
	}
	return json.Unmarshal(text, reply)
}

// dialUnix connects to a socket of the host's own.
func dialUnix(h *lab.Host, path string) (conn net.Conn, err error) {
	err = h.Inside(func() error {
		conn, err = net.Dial("unix", path)
		return err
	})
	return conn, err
}
