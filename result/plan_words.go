package result

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// mistaken is what the decoder says of a value of the wrong kind.
var mistaken = regexp.MustCompile("^line (\\d+): cannot unmarshal (\\S+)(?: `(.*)`)? into (.+)$")

// inPlainWords names the key, and what to write there, where the decoder names types of Go.
func inPlainWords(err error, text []byte) error {
	var types *yaml.TypeError
	if !errors.As(err, &types) {
		return err
	}
	var file yaml.Node
	if yaml.Unmarshal(text, &file) != nil {
		return err
	}
	var plain []string
	for _, said := range types.Errors {
		if m := mistaken.FindStringSubmatch(said); m != nil {
			line, _ := strconv.Atoi(m[1]) // digits, by the expression
			said = fmt.Sprintf("line %d: %s: %s", line, keyAt(&file, line, kindOf(m[2])), wanted(m[4]))
			if m[3] != "" {
				said += fmt.Sprintf(", not %q", m[3])
			}
		}
		plain = append(plain, said)
	}
	return errors.New(strings.Join(plain, "; "))
}

// wanted is what to write for a value of a Go type.
func wanted(of string) string {
	switch {
	case strings.HasPrefix(of, "[]"):
		return "write a list, as in [a, b]"
	case strings.HasPrefix(of, "uint"):
		return "write a whole number, 0 or above"
	case strings.HasPrefix(of, "int"):
		return "write a whole number"
	case strings.HasPrefix(of, "float"):
		return "write a number"
	case of == "bool":
		return "write true or false"
	case of == "string":
		return "write a word"
	}
	return "write keys with their values"
}

// kindOf is the kind of node that a tag belongs to.
func kindOf(tag string) yaml.Kind {
	switch tag {
	case "!!map":
		return yaml.MappingNode
	case "!!seq":
		return yaml.SequenceNode
	}
	return yaml.ScalarNode
}

// wholePlan is where no key is to blame.
const wholePlan = "the plan"

// keyAt is the key whose value, of that kind, begins in a line.
func keyAt(node *yaml.Node, line int, kind yaml.Kind) string {
	for n, child := range node.Content {
		if node.Kind == yaml.MappingNode && n%2 == 1 && child.Line == line && child.Kind == kind {
			return node.Content[n-1].Value
		}
		if key := keyAt(child, line, kind); key != wholePlan {
			return key
		}
	}
	return wholePlan
}
