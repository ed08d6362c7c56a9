package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"tare/result"
)

// gatesOf names the limits of comparisons, each once, in their order.
func gatesOf(all []result.Comparison) (names []string) {
	for _, c := range all {
		for _, h := range c.Held {
			names = result.AddOnce(names, h.Gate)
		}
		for _, u := range c.Unmet {
			names = result.AddOnce(names, u.Gate)
		}
	}
	return names
}

// suites, suite, test and failure are JUnit's, as CI systems read them.
type suites struct {
	XMLName xml.Name `xml:"testsuites"`
	Suites  []suite  `xml:"testsuite"`
}

type suite struct {
	Name      string `xml:"name,attr"`
	Tests     int    `xml:"tests,attr"`
	Failures  int    `xml:"failures,attr"`
	Errors    int    `xml:"errors,attr"` // always 0; the schema of Jenkins wants it
	Skipped   int    `xml:"skipped,attr,omitempty"`
	Timestamp string `xml:"timestamp,attr,omitempty"` // ISO 8601 without a zone: UTC
	Cases     []test `xml:"testcase"`
}

type test struct {
	Name    string   `xml:"name,attr"`
	Class   string   `xml:"classname,attr"`
	Failure *failing `xml:"failure,omitempty"`
	Skipped *failing `xml:"skipped,omitempty"`
	Output  string   `xml:"system-out,omitempty"`
}

type failing struct {
	Message string `xml:"message,attr"`
}

// JUnit writes what was held against the limits of comparisons as a JUnit report: a suite
// for each limit, a test for each value, and one that fails for what could not be held.
// The only error is that of w.
func JUnit(w io.Writer, all []result.Comparison) error {
	words := wordsOf("")
	doc := suites{Suites: []suite{}}
	for _, gate := range gatesOf(all) {
		s := suite{Name: "tare " + gate, Cases: []test{}}
		for _, c := range all {
			for _, h := range c.Held {
				if h.Gate == gate && h.Met {
					s.Cases = append(s.Cases, test{Name: result.Plain(h.Cell + " " + h.Metric), Class: "tare." + gate})
				}
			}
			for _, u := range c.Unmet {
				if u.Gate == gate {
					s.Failures++
					s.Cases = append(s.Cases, test{
						Name: result.Plain(words.unmetName(u)), Class: "tare." + gate, Failure: &failing{result.Plain(words.beyond(u))},
					})
				}
			}
		}
		s.Tests = len(s.Cases)
		doc.Suites = append(doc.Suites, s)
	}
	return doc.write(w)
}

// write writes the report. The only error is that of w.
func (doc suites) write(w io.Writer) error {
	text, err := xml.MarshalIndent(doc, "", "  ")
	if err != nil {
		return fmt.Errorf("write JUnit report: %w", err)
	}
	if _, err := fmt.Fprintf(w, "%s%s\n", xml.Header, text); err != nil {
		return fmt.Errorf("write JUnit report: %w", err)
	}
	return nil
}

// GatesMarkdown writes a summary of comparisons for the page of a CI run: whether the limits
// are met, what is beyond them, and what was held. The only error is that of w.
func GatesMarkdown(w io.Writer, all []result.Comparison, lang string) error {
	words := wordsOf(lang)
	var b strings.Builder
	for _, c := range all {
		fmt.Fprintf(&b, "## %s\n\n", markdownText(words.say("gates_title", "old", c.Old.File, "new", c.New.File)))
		if len(c.Held)+len(c.Unmet) == 0 {
			fmt.Fprintf(&b, "%s\n\n", markdownText(words.say("no_limits")))
			continue
		}
		for _, text := range words.gates(c) {
			fmt.Fprintf(&b, "- %s\n", markdownText(text))
		}
		if len(c.Unmet) > 0 {
			fmt.Fprintf(&b, "\n| %s | %s |\n|---|---|\n", words.say("limits_passed"), words.say("gates_why"))
			for _, u := range c.Unmet {
				fmt.Fprintf(&b, "| %s | %s |\n", markdownText(words.unmetName(u)), markdownText(words.beyond(u)))
			}
		}
		b.WriteString("\n")
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write summary: %w", err)
	}
	return nil
}

// gates is for each limit how many values were held, and how many it excludes.
func (w words) gates(c result.Comparison) (texts []string) {
	for _, gate := range gatesOf([]result.Comparison{c}) {
		limit, held, beyond, missing := 0.0, 0, 0, 0
		for _, h := range c.Held {
			if h.Gate == gate {
				limit = h.Limit
				held++
			}
		}
		for _, u := range c.Unmet {
			if u.Gate != gate {
				continue
			}
			limit = u.Limit
			if u.Reason == "" {
				beyond++
			} else {
				missing++
			}
		}
		text := w.say("gate_held", "gate", "--"+gate+" "+percent(limit), "values", w.count("value", held), "beyond", fmt.Sprint(beyond))
		if missing > 0 {
			text += w.say("gate_missing", "n", fmt.Sprint(missing))
		}
		texts = append(texts, text)
	}
	return texts
}

// unmetName is what breaks a limit.
func (w words) unmetName(u result.Unmet) string {
	name := strings.TrimSpace(u.Cell + " " + u.Metric)
	if name == "" {
		return w.say("gate_all")
	}
	return name
}

// beyond is why it does.
func (w words) beyond(u result.Unmet) string {
	if u.Reason != "" {
		return u.Reason
	}
	return w.say("at_least", "value", percent(u.Value), "low", percent(u.Low))
}

// gates prints what was held against the limits, and what breaks them.
func (p *page) gates(c result.Comparison) {
	if len(c.Held)+len(c.Unmet) == 0 {
		return
	}
	p.title(p.say("limits_title"))
	for _, text := range p.words.gates(c) {
		p.item("  ", text)
	}
	if len(c.Unmet) == 0 {
		return
	}
	p.title(p.say("limits_passed"))
	for _, u := range c.Unmet {
		p.item("  --"+u.Gate+" "+percent(u.Limit)+"  ", p.of(p.unmetName(u), p.beyond(u)))
	}
}
