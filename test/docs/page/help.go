package page

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

var verbLine = regexp.MustCompile(`(?m)^  ([a-z]+) +\S`)

// WriteHelp writes docs/cli.md: the help of each verb is a section. ask gives what tare prints.
func WriteHelp(w io.Writer, ask func(words ...string) (string, error)) error {
	fmt.Fprint(w, "# Command line\n\nWritten by `go run ./test/docs > docs/cli.md`: what `tare help VERB --all` says. Flags \"as tare run\" are\n"+
		"described at [tare run](#tare-run), in the same words. `tare help parameters` is at [tare parameters](#tare-parameters).\n\n"+
		"Exit status: 0 done; 1 a cell or the tool failed; 2 the command, plan or file is wrong;\n"+
		"3 something it needs is missing here; 4 a limit is broken, or doctor found a fault; 5 it is not known whether one is;\n"+
		"130 interrupted, and what was measured is saved.\n\n"+
		"A shell completes verbs, flags and the names of networks, workloads, paths and more: `tare completion bash --help` says how.\n\n"+
		"Every verb has the flags of [tare](#tare). With `--progress json` standard error is an object a line: `event` (`note`, `block`,\n"+
		"`error`), `time`, `phase` (`preparing`, `starting`, `checking`, `measuring`, `pausing`), `text`, and of a block `block` of\n"+
		"`blocks` (absent where a run ends once all is decided) and `seconds_left`, at most.\n")
	described := map[string]string{}
	for _, verb := range []string{"run", "compare"} {
		help, err := ask("help", verb, "--all")
		if err != nil {
			return fmt.Errorf("ask tare help %s --all: %w", verb, err)
		}
		described[verb] = help
	}
	return eachVerb(ask, nil, func(verb []string, help string) {
		like := "run"
		switch {
		case slices.Equal(verb, []string{"run"}):
			like = ""
		case slices.Equal(verb, []string{"trend"}):
			like = "compare" // it has the same limits
		}
		help = own(help, like, described[like])
		fmt.Fprintf(w, "\n## %s\n\n```text\n%s```\n", strings.Join(append([]string{"tare"}, verb...), " "), help)
	})
}

// flagOf is a flag in a help text: its line, and those that go on with it.
var flagOf = regexp.MustCompile(`(?m)^ {6}--.*\n?(?: {7,}.*\n?)*`)

// saidByAll is what the help of each verb says again: how to ask for help.
var saidByAll = regexp.MustCompile(`(?m)^(?:  -h, --help|"tare help parameters" says|Use "tare |Flags of every command|  --color --progress ).*\n?`)

// own is a verb's help without what all say; the flags that the verb like describes in the same words are named only.
func own(help, like, there string) string {
	words := func(entry string) string {
		return strings.ReplaceAll(strings.Join(strings.Fields(entry), " "), `"`, "")
	}
	known := map[string]bool{}
	for _, entry := range flagOf.FindAllString(there, -1) {
		known[words(entry)] = true
	}
	var paragraphs []string
	for _, text := range strings.Split(strings.TrimSuffix(help, "\n"), "\n\n") {
		shared := ""
		text = flagOf.ReplaceAllStringFunc(saidByAll.ReplaceAllString(text, ""), func(entry string) string {
			if !known[words(entry)] {
				return entry
			}
			shared += " " + strings.Fields(entry)[0]
			return ""
		})
		text = strings.TrimSuffix(text, "\n")
		if shared != "" {
			text += "\n      as tare " + like + ":" + shared
		}
		if heading, _, _ := strings.Cut(text, "\n"); strings.HasPrefix(heading, "Parameters of ") && strings.Contains(there, text+"\n") {
			text = heading + "\n  as tare " + like
		}
		if text != "" && text != "Flags:" {
			paragraphs = append(paragraphs, text)
		}
	}
	return strings.Join(paragraphs, "\n\n") + "\n"
}

// eachVerb visits a verb and those below it, and topics, as the help text lists them. The scripts of shells are left
// out: they are the same of any program.
func eachVerb(ask func(words ...string) (string, error), verb []string, visit func(verb []string, help string)) error {
	out, err := ask(append(append([]string{"help"}, verb...), "--all")...)
	if err != nil {
		return fmt.Errorf("ask tare help %s --all: %w", strings.Join(verb, " "), err)
	}
	visit(verb, out)
	below := ""
	for _, title := range []string{"Available Commands:\n", "Additional help topics:\n"} {
		_, listed, _ := strings.Cut(out, title)
		listed, _, _ = strings.Cut(listed, "\n\n")
		below += listed + "\n"
	}
	for _, match := range verbLine.FindAllStringSubmatch(below, -1) {
		if match[1] == "help" || match[1] == "completion" {
			continue
		}
		if err := eachVerb(ask, append(verb[:len(verb):len(verb)], match[1]), visit); err != nil {
			return err
		}
	}
	return nil
}
