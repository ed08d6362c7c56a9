package report

import (
	"embed"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"tare/result"
)

// catalogues are the interface words of each language, which the page has too.
//
//go:embed words/*.json
var catalogues embed.FS

// The languages of reports; where nobody asks for one, it is English.
const (
	English = "en"
	Chinese = "zh"
)

// Languages lists them.
func Languages() []string { return []string{English, Chinese} }

// words are the interface words of one language.
type words struct {
	language string
	texts    map[string]string
	causes   map[string]called // by ID; none: a cause is its sentence, which is English
}

// called is what a language calls a cause, and what its fix does.
type called struct {
	Is  string `json:"is"`
	Fix string `json:"fix"`
}

// wordsOf reads the catalogue of a language; English is taken for one that is
// not known.
func wordsOf(language string) words {
	if !slices.Contains(Languages(), language) {
		language = English
	}
	w := words{language: language}
	if text, err := catalogues.ReadFile("words/" + language + ".json"); err != nil || json.Unmarshal(text, &w.texts) != nil {
		w.texts = nil // it is part of the binary, and tests read it: the keys must do
	}
	if text, err := catalogues.ReadFile("words/causes." + language + ".json"); err != nil || json.Unmarshal(text, &w.causes) != nil {
		w.causes = nil // English has none
	}
	return w
}

// say is the text of a key. The places are names and what is put there:
// say("margin", "low", "2 %") fills {low}.
func (w words) say(key string, places ...string) string {
	var filled []string
	for i := 0; i+1 < len(places); i += 2 {
		filled = append(filled, "{"+places[i]+"}", places[i+1])
	}
	text, known := w.texts[key]
	if !known {
		return key
	}
	return strings.NewReplacer(filled...).Replace(text)
}

// count is a number with its noun: "1 block", "2 blocks". A noun has two keys,
// block_1 and block_n.
func (w words) count(noun string, n int) string {
	key := noun + "_n"
	if n == 1 {
		key = noun + "_1"
	}
	return w.say(key, "n", strconv.Itoa(n))
}

// state is the word for a verdict, a status or a circumstance, which results write in English;
// one that is not known is shown as it is.
func (w words) state(word string) string {
	switch word {
	case "slower", "faster", "equal", "failed", "skipped":
		return w.say(word)
	case "unknown hypervisor":
		return w.say("unknown_hypervisor")
	case "user namespace":
		return w.say("user_namespace")
	case "inconclusive":
		return w.say("undecided")
	}
	return result.Plain(word)
}

// join joins texts as parts of a sentence.
func (w words) join(texts ...string) string { return strings.Join(texts, w.say("comma")) }

// list names things of a kind.
func (w words) list(names []string) string { return strings.Join(names, w.say("listed")) }

// of joins a subject and a remark on it: "failed: no route to host".
func (w words) of(subject, text string) string { return subject + w.say("colon") + text }

// aside puts a text in brackets, as after another.
func (w words) aside(text string) string { return w.say("brackets", "text", text) }
