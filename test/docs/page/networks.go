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

// factsBegin begins the line of a network's page that is written from what is known of the network.
const factsBegin = "Paths: "

// Facts is that line: what the network serves, what it is built upon, how real it is, and which flags it has.
func Facts(n catalog.Network) string {
	code := func(names []string) string { return "`" + strings.Join(names, "`, `") + "`" }
	text := factsBegin + code(n.Paths) + "."
	if n.Across != "" {
		text += fmt.Sprintf(" Between hosts: [`%s`](%[1]s.md).", n.Across)
	}
	var below []string
	for b, found := catalog.FindNetwork(n.Parent); found; b, found = catalog.FindNetwork(b.Parent) {
		below = append(below, fmt.Sprintf("[`%s`](%[1]s.md)", b.Name))
	}
	if len(below) > 0 {
		text += " Built upon: " + strings.Join(below, ", ") + "."
	}
	text += " Fidelity: `" + n.Fidelity + "`."
	var flags []string
	for _, p := range n.Params {
		flags = append(flags, "--"+strings.ReplaceAll(p.Name, "_", "-"))
	}
	if len(flags) > 0 {
		text += " [Flags](README.md#flags-of-some-networks): " + code(flags) + "."
	}
	return text
}

// WithFacts is a network's page with that line in place of the one that it has.
func WithFacts(text string, n catalog.Network) (string, error) {
	before, rest, found := strings.Cut(text, "\n"+factsBegin)
	if !found {
		return "", fmt.Errorf("find what %s is: no line begins with %q", n.Name, factsBegin)
	}
	_, rest, _ = strings.Cut(rest, "\n")
	return before + "\n" + Facts(n) + "\n" + rest, nil
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
