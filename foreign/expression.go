package foreign

import (
	"regexp"
	"sync"
)

// expression is a regular expression that is compiled at its first use: the readers have a hundred,
// and nearly every process of tare reads nothing of other tools.
type expression func() *regexp.Regexp

func expressionOf(text string) expression {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// MatchString is as Regexp's, and so are the others.
func (e expression) MatchString(s string) bool { return e().MatchString(s) }

func (e expression) FindStringSubmatch(s string) []string { return e().FindStringSubmatch(s) }

func (e expression) ReplaceAllString(s, with string) string { return e().ReplaceAllString(s, with) }
