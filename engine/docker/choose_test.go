package docker

import (
	"slices"
	"testing"

	"tare/catalog"
)

// A version is the first of an engine's words, whatever follows it, and a wanted one begins it number by number.
func TestVersions(t *testing.T) {
	for text, want := range map[string]string{
		"Docker version 20.10.24+dfsg1, build 297e128\n":                    "20.10.24+dfsg1",
		"Docker version 29+moby-v2.0.0-beta.24, build HEAD\n":               "29+moby-v2.0.0-beta.24",
		"Docker version 26.1.5+dfsg1, build 411e817ddf710ff8e08fa193da80cb": "26.1.5+dfsg1",
		"nothing of the kind": "",
	} {
		if got := versionIn(text); got != want {
			t.Errorf("version in %q is %q, want %q", text, got, want)
		}
	}
	for _, c := range []struct {
		version, with string
		want          bool
	}{
		{"20.10.24+dfsg1", "", true}, {"20.10.24+dfsg1", "20.10", true}, {"20.10.24+dfsg1", "20", true}, {"20.10.24+dfsg1", "2", false},
		{"29+moby-v2.0.0-beta.24", "29", true}, {"29.1.0", "29.1", true}, {"29.10.0", "29.1", false}, {"29.1.0", "20.10", false},
	} {
		if got := begins(c.version, c.with); got != c.want {
			t.Errorf("%s begins with %q: %t, want %t", c.version, c.with, got, c.want)
		}
	}
}

// Each version gets the flags that it has: dockerd refuses to start with any other.
func TestFlags(t *testing.T) {
	for _, c := range []struct {
		version string
		score   bool
		backend bool
	}{
		{"20.10.24+dfsg1", true, false}, {"24.0.9", true, false}, {"26.1.5+dfsg1", false, false}, {"29+moby-v2.0.0-beta.24", false, true},
	} {
		flags := Choice{Version: c.version, backend: catalog.ByNftables}.flags()
		if slices.Contains(flags, "--oom-score-adjust") != c.score || slices.Contains(flags, "--firewall-backend") != c.backend {
			t.Errorf("flags of %s are %q", c.version, flags)
		}
	}
}
