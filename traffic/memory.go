package traffic

import "math/rand/v2"

// prefaulted makes a buffer whose memory is already mapped: each of its pages is
// written once.
func prefaulted(size int) []byte {
	p := make([]byte, size)
	for i := 0; i < len(p); i += 4096 {
		p[i] = 1
	}
	return p
}

// randomBytes makes a payload that no device on the way can compress.
func randomBytes(n int) []byte {
	p := make([]byte, n)
	generator := rand.NewChaCha8([32]byte{})
	_, _ = generator.Read(p) // never fails
	return p
}
