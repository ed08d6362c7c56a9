package foreign

import (
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// roughening does to a log what a paste does.
type roughening struct {
	name string
	do   func(text string) string
}

// roughenings are in the order in which they happen to a log: in its terminal,
// in the hands of its owner, in the page that shows it.
func roughenings() []roughening {
	each := func(change func(n int, line string) string) func(string) string {
		return func(text string) string {
			lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
			for n := range lines {
				lines[n] = change(n, lines[n])
			}
			return strings.Join(lines, "\n") + "\n"
		}
	}
	numbered := func(format string) func(string) string {
		number := each(func(n int, line string) string { return fmt.Sprintf(format, n+1, line) })
		return func(text string) string { return number("The log:\n\n" + text) } // one number alone could be the log's own
	}
	before := func(mark string) func(string) string {
		return each(func(_ int, line string) string { return mark + line })
	}
	return []roughening{
		{"colours", each(func(_ int, line string) string { return "\x1b[1;32m" + line + "\x1b[0m" })},
		{"colours without escapes", each(func(_ int, line string) string { return "[32m" + line + "[0m" })},
		{"headings in another language", each(func(_ int, line string) string {
			if strings.Contains(line, "[ ID]") {
				return "[ ID] 间隔           传输     带宽         重传"
			}
			return strings.ReplaceAll(line, "Test Complete. Summary Results:", "测试完成。")
		})},
		{"tabs", func(text string) string { return manyBlanks.ReplaceAllString(text, "\t") }},
		{"one blank between columns", func(text string) string { return manyBlanks.ReplaceAllString(text, " ") }},
		{"no blanks between columns", func(text string) string {
			if strings.HasPrefix(text, "{") {
				return text
			}
			return rows.ReplaceAllStringFunc(text, squeeze)
		}},
		{"no indent", each(func(_ int, line string) string { return strings.TrimLeft(line, " \t") })},
		{"prompt", func(text string) string { return "[root@node1 ~]# cat log.txt\n" + text + "[root@node1 ~]#\n" }},
		{"prose", func(text string) string {
			return "Here is what we measured with it:\n\n" + text + "\nNot bad, is it?\n"
		}},
		{"elided", func(text string) string { return "...\n" + text + "......\n" }},
		{"no-break spaces", func(text string) string { return strings.ReplaceAll(text, "  ", "\u00a0 ") }},
		{"time stamps", before("2026-11-20T13:00:00.123456789Z ")},
		{"iperf3's time stamps", before("Fri Nov 20 13:00:00 2026 ")},
		{"comment", before("# ")},
		{"comment and quotation", before("# > ")},
		{"quotation", before("> ")},
		{"slashes", before("// ")},
		{"bar", before("| ")},
		{"cells", each(func(_ int, line string) string { return "| " + line + " |" })},
		{"line numbers", numbered("%4d  %s")},
		{"line numbers with colons", numbered("%d: %s")},
		{"entities", func(text string) string { return strings.ReplaceAll(html.EscapeString(text), "  ", "&nbsp; ") }},
		{"tags", each(func(_ int, line string) string { return `<span class="line"><code>` + line + "</code></span>" })},
		{"carriage returns", func(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }},
		{"breaks", func(text string) string { return strings.ReplaceAll(text, "\n", "<br>\n") }},
		{"byte order mark", func(text string) string { return "\ufeff" + text }},
	}
}

var (
	manyBlanks = regexp.MustCompile(` {2,}`)
	rows       = regexp.MustCompile(`(?m)^(?:\[.*(?:bits|Bytes)/sec.*|\s*\w+\s+=  .*)$`)
)

// squeeze takes the blanks out of a line, but for those between two digits:
// without these one cannot see where a number ends.
func squeeze(line string) string {
	var out []rune
	runes := []rune(line)
	digit := func(n int) bool {
		return n >= 0 && n < len(runes) && (runes[n] >= '0' && runes[n] <= '9' || runes[n] == '.')
	}
	for n := 0; n < len(runes); {
		if runes[n] != ' ' {
			out = append(out, runes[n])
			n++
			continue
		}
		end := n
		for end < len(runes) && runes[end] == ' ' {
			end++
		}
		if digit(n-1) && digit(end) {
			out = append(out, ' ')
		}
		n = end
	}
	return string(out)
}

// rough are the fixtures that the roughenings are tried on.
func rough(t testing.TB) []string {
	return slices.DeleteFunc(fixtures(t), func(path string) bool {
		cells, err := Read(path, read(t, path))
		return err != nil || len(cells) == 0
	})
}

// TestAnyPasteGivesTheSameNumbers holds every combination of roughenings to
// the cells of the log as the tool printed it.
func TestAnyPasteGivesTheSameNumbers(t *testing.T) {
	files := rough(t)
	want, texts := map[string]string{}, map[string]string{}
	for _, path := range files {
		cells, err := Read(path, read(t, path))
		if err != nil {
			t.Fatal(err)
		}
		want[path], texts[path] = describe(cells), string(read(t, path))
	}
	check := func(t interface{ Fatalf(string, ...any) }, path string, chosen []roughening) {
		text, names := texts[path], []string{}
		for _, r := range chosen {
			text, names = r.do(text), append(names, r.name)
		}
		cells, err := Read(path, []byte(text))
		if err != nil {
			t.Fatalf("%s with %q: %v", path, names, err)
		}
		if got := describe(cells); got != want[path] {
			t.Fatalf("%s with %q: %s", path, names, differing(want[path], got))
		}
	}
	for _, path := range files {
		for _, r := range roughenings() {
			check(t, path, []roughening{r})
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		var chosen []roughening
		for _, r := range roughenings() {
			if rapid.IntRange(0, 3).Draw(t, r.name) == 3 {
				chosen = append(chosen, r)
			}
		}
		check(t, rapid.SampledFrom(files).Draw(t, "fixture"), chosen)
	})
}
