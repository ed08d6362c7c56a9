package protocol

import (
	"errors"
	"fmt"
	"io"
)

// Serve greets, and then has each request taken until there are no more, or one asks to leave.
// What is taken may be under way when take returns; the error that take returns is the reply.
func Serve[T any, R interface {
	*T
	request() *Request
}](s *Stream, greeting any, take func(R) error) error {
	if err := s.Write(greeting); err != nil {
		return fmt.Errorf("send greeting: %w", err)
	}
	for {
		r := R(new(T))
		switch err := s.Read(r); {
		case errors.Is(err, io.EOF) || err == nil && r.request().Do == Leave:
			return nil
		case err != nil:
			return fmt.Errorf("read request: %w", err)
		}
		if err := take(r); err != nil {
			if err := s.Write(Reply{ID: r.request().ID, Error: err.Error()}); err != nil {
				return fmt.Errorf("send reply: %w", err)
			}
		}
	}
}

// Unknown is the error of a request that a process of a kind does not know.
func (r *Request) Unknown(kind string) error {
	return fmt.Errorf("request %q: unknown to this %s", r.Do, kind)
}
