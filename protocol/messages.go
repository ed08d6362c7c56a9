package protocol

import (
	"encoding/json"
	"errors"
	"fmt"

	"tare/result"
)

// Greeting is part of every greeting. The schema is its first field.
type Greeting struct {
	Schema  string `json:"schema"`
	Version string `json:"version,omitempty"` // of tare
}

func (g Greeting) greeting() Greeting { return g }

// Check refuses a greeting of another protocol.
func (g Greeting) Check(schema string) error {
	if g.Schema != schema {
		return fmt.Errorf("its protocol is %q and that of this tare is %q: use the same version at both ends", g.Schema, schema)
	}
	return nil
}

// Request is part of every request.
type Request struct {
	ID int    `json:"id,omitempty"` // from 1 on; 0: it gets no reply
	Do string `json:"do,omitempty"`
}

// What can be asked of every process.
const (
	Cancel = "cancel" // the request with the ID of this one
	Leave  = "leave"  // to end: not every command passes on that its input does
)

func (r *Request) request() *Request { return r }

// Reply is part of every reply. A request may have several.
type Reply struct {
	ID    int    `json:"id,omitempty"`    // of the request
	Error string `json:"error,omitempty"` // why it failed; it is the last reply then
}

func (r Reply) reply() Reply { return r }

// Refused is the error of a reply from a place; nil: it has none.
func (r Reply) Refused(at string) error {
	if r.Error == "" {
		return nil
	}
	return fmt.Errorf("at %s: %s", at, result.Plain(r.Error))
}

// unnumbered reads the greeting of a tare whose messages have no number, where an error is about
// that.
func unnumbered(err error, into any) bool {
	malformed := new(MalformedError)
	return errors.As(err, &malformed) && json.Unmarshal([]byte(malformed.Line), into) == nil
}
