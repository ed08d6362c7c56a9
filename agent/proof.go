package agent

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"tare/protocol"
	"tare/workload"
)

// PortSchema names the protocol of a serving port. The sender connects and greets it in one
// line of JSON; the port replies with another nonce; the sender's second line is its request,
// with the proof that it knows the port's token. It receives a line when it may begin, with
// the port of the run, and at the end one with what was measured. During a run neither side
// sends anything here.
const PortSchema = "tare.serve/2"

// greetingPrefix is how every greeting begins, of any version.
const greetingPrefix = `{"schema":"tare.serve/`

// portGreeting is the first line to a serving port. The schema is its first field, so that its
// beginning distinguishes it from the flows of a run. It is longer than the reply to it.
type portGreeting struct {
	protocol.Greeting
	Nonce string `json:"nonce"`
}

// portRequest is what a sender asks for.
type portRequest struct {
	Proof string          `json:"proof,omitempty"` // absent: the sender has no token
	Job   json.RawMessage `json:"job"`
}

// portReply is a line from a serving port.
type portReply struct {
	protocol.Reply
	Nonce string          `json:"nonce,omitempty"` // of the reply to a greeting
	Port  int             `json:"port,omitempty"`  // of the run; 0: the one that was asked
	End   *endpoint       `json:"end,omitempty"`   // the server, once it is ready
	Tally *workload.Tally `json:"tally,omitempty"`
}

// newNonce draws what nobody has seen before.
func newNonce() (string, error) {
	drawn := make([]byte, 16)
	if _, err := rand.Read(drawn); err != nil {
		return "", fmt.Errorf("draw nonce: %w", err)
	}
	return hex.EncodeToString(drawn), nil
}

// proofOf shows that a sender knows a token, to who knows it too, for one job and once:
// HMAC-SHA256 (RFC 2104) over what both ends drew and the job. Who sees it learns nothing
// of a token that can't be guessed.
func proofOf(token string, greeted, replied string, job []byte) string {
	mac := hmac.New(sha256.New, []byte(token))
	for _, part := range [][]byte{[]byte(PortSchema), []byte(greeted), []byte(replied), job} {
		mac.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		mac.Write(part)
	}
	return hex.EncodeToString(mac.Sum(nil))
}

// proves reports whether a request shows that its sender knows the token; empty: anybody
// does.
func (r portRequest) proves(token, greeted, replied string) bool {
	want := proofOf(token, greeted, replied, r.Job)
	return token == "" || subtle.ConstantTimeCompare([]byte(r.Proof), []byte(want)) == 1
}
