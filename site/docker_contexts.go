package site

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
)

// DockerContexts names the contexts that the user's Docker client has: default, and by alphabet those that it keeps
// in ~/.docker, or in DOCKER_CONFIG. What can't be read is left out.
func DockerContexts() []string {
	home, _ := os.UserHomeDir() // without one there is nothing below it
	folder := cmp.Or(os.Getenv("DOCKER_CONFIG"), filepath.Join(home, ".docker"))
	files, _ := filepath.Glob(filepath.Join(folder, "contexts", "meta", "*", "meta.json")) // the pattern is well-formed
	var kept []string
	for _, file := range files {
		var meta struct{ Name string }
		text, err := os.ReadFile(file)
		if err == nil && json.Unmarshal(text, &meta) == nil && meta.Name != "" {
			kept = append(kept, meta.Name)
		}
	}
	slices.Sort(kept)
	return append([]string{"default"}, kept...)
}
