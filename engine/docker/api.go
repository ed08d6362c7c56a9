package docker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"

	"tare/engine"
	"tare/lab"
)

// refusal is an error that an engine answers a request with.
type refusal struct {
	status  int // of HTTP
	message string
}

func (e *refusal) Error() string { return e.message }

// ask sends a request to the API of the host's engine (Docker Engine API 1.24 and
// newer), which starts no process. request and reply are JSON bodies, or nil. An
// error that the engine answers with is a *refusal.
func ask(h *lab.Host, method, path string, request, reply any) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("ask Docker in %s: %s %s: %w", h.Name, method, path, err)
		}
	}()
	var body bytes.Buffer
	if request != nil {
		if err := json.NewEncoder(&body).Encode(request); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), engine.RequestTimeout)
	defer cancel()
	sent, err := http.NewRequestWithContext(ctx, method, "http://docker"+path, &body)
	if err != nil {
		return err
	}
	sent.Header.Set("Content-Type", "application/json")
	client := http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext:       func(context.Context, string, string) (net.Conn, error) { return engine.DialUnix(h, socket) },
	}}
	answer, err := client.Do(sent)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(answer.Body)
	if err = errors.Join(err, answer.Body.Close()); err != nil {
		return err
	}
	if answer.StatusCode >= http.StatusBadRequest {
		var failed struct{ Message string }
		if err := json.Unmarshal(text, &failed); err != nil || failed.Message == "" {
			failed.Message = answer.Status
		}
		return &refusal{answer.StatusCode, failed.Message}
	}
	if reply == nil {
		return nil
	}
	return json.Unmarshal(text, reply)
}
