package page

import (
	"fmt"
	"strings"

	"tare/catalog"
)

// tableBegins is the head of the table of networks in docs/networks/README.md.
const tableBegins = "| network | what it is | built upon |\n|---|---|---|\n"

// NetworksTable is the table of all networks, each with a link to its page.
func NetworksTable() string {
	var b strings.Builder
	b.WriteString(tableBegins)
	for _, n := range catalog.Networks() {
		parent := ""
		if n.Parent != "" {
			parent = "`" + n.Parent + "` "
		}
		fmt.Fprintf(&b, "| [`%s`](%[1]s.md) | %s | %s|\n", n.Name, n.Doc, parent)
	}
	return b.String()
}

// WithNetworks is a page with that table in place of the one that it has.
func WithNetworks(text string) (string, error) {
	before, rest, found := strings.Cut(text, tableBegins)
	if !found {
		return "", fmt.Errorf("find the table of networks: no line is %q", strings.TrimSpace(tableBegins))
	}
	for strings.HasPrefix(rest, "|") {
		_, rest, _ = strings.Cut(rest, "\n")
	}
	return before + NetworksTable() + rest, nil
}
