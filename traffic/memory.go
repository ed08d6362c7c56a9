package traffic

import "math/rand/v2"

// What several workloads have in common.
const (
	DefaultConnections = 10

	DefaultBody = 1024    // bytes of a response's body
	MaxBody     = 1 << 20 // bytes of it at most

	DefaultBlock = 128 << 10 // bytes that one call sends
	MaxBlock     = 64 << 20  // bytes of it at most
)

// Buffer makes a buffer whose memory is already mapped: each of its pages is
// written once.
func Buffer(size int) []byte {
	p := make([]byte, size)
	for i := 0; i < len(p); i += 4096 {
		p[i] = 1
	}
	return p
}

// RandomPayload makes a payload that no device on the way can compress.
func RandomPayload(n int) []byte {
	p := make([]byte, n)
	generator := rand.NewChaCha8([32]byte{})
	_, _ = generator.Read(p) // never fails
	return p
}
