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
)

// PortSchema names the protocol of a serving port. The sender connects and greets it in one
// line of JSON; the port answers with a challenge; the sender's second line is its request,
// with the proof that it knows the port's token. It receives a line when it may begin, with
// the port of the run, and at the end one with what was measured. During a run neither side
// sends anything here.
const PortSchema = "tare.serve/2"

// greetingPrefix is how every greeting begins, of any version.
const greetingPrefix = `{"schema":"tare.serve/`

// greeting is the first line to a serving port. The schema is its first field, so that its
// beginning distinguishes it from the flows of a run. It is longer than the challenge.
type greeting struct {
	Schema string `json:"schema"`
	Nonce  string `json:"nonce"`
}

// challenge is the port's answer to a greeting, or why it is refused.
type challenge struct {
	Nonce string `json:"nonce,omitempty"`
	Error string `json:"error,omitempty"`
}

// request is what a sender asks for.
type request struct {
	Proof string          `json:"proof,omitempty"` // absent: the sender has no token
	Job   json.RawMessage `json:"job"`
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
func proofOf(token string, greeted, challenged string, job []byte) string {
	mac := hmac.New(sha256.New, []byte(token))
	for _, part := range [][]byte{[]byte(PortSchema), []byte(greeted), []byte(challenged), job} {
		mac.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		mac.Write(part)
	}
	return hex.EncodeToString(mac.Sum(nil))
}

// proves reports whether a request shows that its sender knows the token; empty: anybody
// does.
func (r request) proves(token, greeted, challenged string) bool {
	want := proofOf(token, greeted, challenged, r.Job)
	return token == "" || subtle.ConstantTimeCompare([]byte(r.Proof), []byte(want)) == 1
}
