package main

import (
	"fmt"
	"testing"

	"tare/test/labtest"
)

// A lab of a thousand containers is named in a line that a person reads.
func TestPlacesAreFolded(t *testing.T) {
	var many []string
	for h := 1; h <= 2; h++ {
		many = append(many, fmt.Sprintf("bridge.h%d", h))
		for c := 1; c <= 100; c++ {
			many = append(many, fmt.Sprintf("bridge.h%d/c%d", h, c))
		}
	}
	labtest.Equal(t, "many", fmt.Sprint(folded(many)), "[bridge.h1 bridge.h1/c1...bridge.h1/c100 bridge.h2 bridge.h2/c1...bridge.h2/c100]")
	few := []string{"h1", "h1/c1", "h1/c2", "h2"}
	labtest.Equal(t, "few", fmt.Sprint(folded(few)), fmt.Sprint(few))
}
