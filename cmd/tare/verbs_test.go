package main

import (
	"io"
	"os"
	"strings"
	"testing"

	"tare/test/labtest"
)

// What only reads removes nothing that others left; what builds labs does first.
func TestVerbsThatReadChangeNothing(t *testing.T) {
	root := rootCommand(streams{in: os.Stdin, out: io.Discard, err: io.Discard, manner: &manner{}})
	for verb, want := range map[string]bool{
		"": true, "list": true, "list networks": true, "report": true, "compare": true, "trend": true, "import": true, "image": true,
		"run": false, "doctor": false, "trace": false, "mesh": false, "clean": false, "lab up": false, "lab list": false, "lab down": false,
	} {
		c, _, err := root.Find(strings.Fields(verb))
		if err != nil {
			t.Fatal(err)
		}
		labtest.Equal(t, "tare "+verb+" only reads", reads(c), want)
	}
}
