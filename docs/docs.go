// Package docs holds the pages that tare prints from.
package docs

import (
	_ "embed"
	"strings"
)

//go:embed causes.md
var causes string

// Cause is what docs/causes.md says of one cause.
type Cause struct{ ID, Text string }

// Causes are those of docs/causes.md, in its order.
func Causes() []Cause {
	var all []Cause
	for _, section := range strings.Split(causes, "\n## ")[1:] {
		id, text, _ := strings.Cut(section, "\n")
		all = append(all, Cause{id, strings.TrimSpace(text)})
	}
	return all
}
