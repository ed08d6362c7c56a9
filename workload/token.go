package workload

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
)

// NewToken draws the secret that the two ends of a run share.
func NewToken() (string, error) {
	token := make([]byte, 16)
	if _, err := rand.Read(token); err != nil {
		return "", fmt.Errorf("draw token: %w", err)
	}
	return hex.EncodeToString(token), nil
}
