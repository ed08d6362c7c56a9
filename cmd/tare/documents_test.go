package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"tare/test/docs/page"
	"tare/test/script"
)

// repository is the root, where people type what documents show.
const repository = "../.."

// rehearsal is a command that is tried behind the wall, and how that ended.
type rehearsal struct {
	page.Command
	Status int
	Errors string
}

// rehearse tries commands one after the other in this process, behind the wall.
func rehearse() {
	var all []rehearsal
	err := json.NewDecoder(os.Stdin).Decode(&all)
	if err == nil {
		err = script.Wall()
	}
	for n := range all {
		if err == nil {
			err = all[n].try()
		}
	}
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(all)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(99)
	}
	os.Exit(0)
}

// try runs the command, and writes the file that it was to print to.
func (r *rehearsal) try() error {
	var words []string
	for n, word := range r.Words {
		if !slices.Contains([]string{"--out", "--before", "--after", "-o"}, r.Words[max(0, n-1)]) {
			took, err := supply(r.Words[1], word)
			defer took()
			if err != nil {
				return err
			}
		}
		if found, err := filepath.Glob(word); err == nil && found != nil {
			words = append(words, found...)
		} else {
			words = append(words, word)
		}
	}
	in, err := os.Open(pasted)
	if err != nil {
		return err
	}
	defer in.Close()
	if words[1] == "image" {
		words = append(words, "--help") // it would compress this program for seconds: flags alone are read
	}
	var out, said bytes.Buffer
	r.Status = run(words[1:], streams{in: in, out: &out, err: &said})
	r.Errors = said.String()
	if r.Into == "" || r.Status != exitDone {
		return nil
	}
	return os.WriteFile(r.Into, out.Bytes(), 0o600)
}

// aResult is how documents name a result that the reader has measured: beside a round of a soak
// it is in no folder.
var aResult = regexp.MustCompile(`^((soak/)?[\w-]+\.json|\w+\.log)$`)

// pasted is what other tools printed, which commands read by other names, too.
const pasted = "examples/pasted.log"

// supply puts a result where a command reads one that the reader has: two for a pattern, or in
// the folder of a soak. remove takes them away.
func supply(verb, word string) (remove func(), err error) {
	files := []string{word}
	switch {
	case strings.Contains(word, "*"):
		files = []string{strings.ReplaceAll(word, "*", "1"), strings.ReplaceAll(word, "*", "2")}
	case verb == "trend" && word == "soak":
		files = []string{"soak/round-0001.json", "soak/round-0002.json"}
	}
	var made []string
	for n, file := range files {
		if _, err := os.Stat(file); err == nil || !aResult.MatchString(file) {
			continue
		}
		from := fmt.Sprintf("measured-%d", n)
		switch verb {
		case "mesh":
			from = "measured-mesh"
		case "import":
			from = pasted
		}
		made = append(made, file, filepath.Dir(file))
		text, failed := os.ReadFile(from)
		err = errors.Join(err, failed, os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, text, 0o600))
	}
	return func() {
		for _, file := range made {
			_ = os.Remove(file) // a folder goes with its last file
		}
	}, err
}

// rehearsed tries command lines as they would be typed one after the other at the
// repository's root.
func rehearsed(t *testing.T, lines []page.Typed) []rehearsal {
	t.Helper()
	var all []rehearsal
	for _, line := range lines {
		for _, c := range page.Commands(line.Text) {
			if c.Words[0] == "tare" {
				all = append(all, rehearsal{Command: c})
			}
		}
	}
	dir := script.Folder(t)
	place(t, filepath.Join(dir, "measured-0"), "report/testdata/few.json")
	place(t, filepath.Join(dir, "measured-1"), "report/testdata/few.json", "20260301-10", "20260301-11", "2026-03-01T10", "2026-03-01T11")
	place(t, filepath.Join(dir, "measured-mesh"), "cmd/tare/testdata/mesh.json")
	if err := os.CopyFS(filepath.Join(dir, "examples"), os.DirFS(filepath.Join(repository, "examples"))); err != nil {
		t.Fatal(err)
	}
	asked, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("rehearse")
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(asked)
	cmd.Env = append(os.Environ(), "HOME="+dir, "GOCOVERDIR="+script.Covered(t), "XDG_RUNTIME_DIR="+dir, "KUBECONFIG=", "NO_COLOR=1", "LC_ALL=C.UTF-8")
	cmd.Stderr = os.Stderr
	answer, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(answer, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// place copies a file of the repository, with other words in the place of some.
func place(t *testing.T, to, from string, oldnew ...string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, from))
	if err == nil {
		err = os.WriteFile(to, []byte(strings.NewReplacer(oldnew...).Replace(string(text))), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

var (
	noSuchLab   = regexp.MustCompile(`no such lab: "([^"]+)"`)
	unknown     = regexp.MustCompile(`unknown .*"([^"]+)"`)
	walledOff   = regexp.MustCompile(`not permitted|permission denied`)
	placeholder = regexp.MustCompile(`^[A-Z]+$|^\.\.\.$`)
	elsewhere   = regexp.MustCompile(`/boot/\S+: no such file|open /var/\S+: no such file|read the kubeconfig`) // what only another machine has
)

// refused is what is wrong with a command as it is typed; "": nothing. labs are those that
// are up by then. What is named within a sentence may lack words, but none may be unknown.
func (r rehearsal) refused(within bool, labs []string) string {
	named := noSuchLab.FindStringSubmatch(r.Errors)
	word := unknown.FindStringSubmatch(r.Errors)
	switch {
	case r.Status == exitDone, r.Status == exitMissing:
		return ""
	case walledOff.MatchString(r.Errors):
		return ""
	case within && (word == nil || placeholder.MatchString(word[1])):
		return ""
	case named != nil && slices.Contains(labs, named[1]):
		return ""
	case elsewhere.MatchString(r.Errors):
		return ""
	}
	return r.Errors
}

// TestCommandsInDocuments tries each command line of each document: its verb, flags and
// plan, the networks, paths and workloads that it names, and the files that it reads.
func TestCommandsInDocuments(t *testing.T) {
	files, err := page.All(repository)
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	named := map[string]bool{} // within sentences
	for _, file := range files {
		lines, err := page.TypedIn(repository, file, "tare")
		if err != nil {
			t.Fatal(err)
		}
		count += len(lines)
		lines = slices.DeleteFunc(lines, func(l page.Typed) bool {
			again := l.Within && named[l.Text]
			named[l.Text] = named[l.Text] || l.Within
			return again
		})
		if file == "docs/cli.md" || len(lines) == 0 { // the examples of the first are below
			continue
		}
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			checkLines(t, lines)
		})
	}
	if count < 150 {
		t.Errorf("%d command lines in all documents: where are the others?", count)
	}
}

// checkLines fails for each line that tare refuses as it is typed.
func checkLines(t *testing.T, lines []page.Typed) {
	t.Helper()
	labs := []string{"demo"} // as every document calls the lab that the reader has
	tried := rehearsed(t, lines)
	for _, line := range lines {
		for _, c := range page.Commands(line.Text) {
			if c.Words[0] != "tare" {
				continue
			}
			if at := slices.Index(c.Words, "--name"); at > 0 && len(c.Words) > at+1 && slices.Contains(c.Words, "up") {
				labs = append(labs, c.Words[at+1])
			}
			if why := tried[0].refused(line.Within, labs); why != "" {
				t.Errorf("line %d: %s\nexit status %d: %s", line.Line, line.Text, tried[0].Status, why)
			}
			tried = tried[1:]
		}
	}
}

// TestExamplesOfVerbs tries those that the help shows.
func TestExamplesOfVerbs(t *testing.T) {
	var each func(c *cobra.Command)
	each = func(c *cobra.Command) {
		var lines []page.Typed
		for n, text := range strings.Split(c.Example, "\n") {
			if text != "" {
				lines = append(lines, page.Typed{Line: n + 1, Text: text})
			}
		}
		if len(lines) > 0 {
			t.Run(c.CommandPath(), func(t *testing.T) {
				t.Parallel()
				checkLines(t, lines)
			})
		}
		for _, below := range c.Commands() {
			each(below)
		}
	}
	each(rootCommand(streams{manner: &manner{}}))
}

// TestExamplePlans: each is a plan, and --dry-run is accepted as it was printed.
func TestExamplePlans(t *testing.T) {
	plans, err := filepath.Glob(filepath.Join(repository, "examples/*.yaml"))
	if err != nil || len(plans) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, plan := range plans {
		var printed [2]bytes.Buffer
		for n := range printed {
			if status := run([]string{"run", "--dry-run", plan}, streams{in: os.Stdin, out: &printed[n], err: &printed[n]}); status != exitDone {
				t.Fatalf("%s: exit status %d: %s", plan, status, printed[n].String())
			}
			plan = filepath.Join(t.TempDir(), "plan.yaml")
			if err := os.WriteFile(plan, printed[n].Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if printed[0].String() != printed[1].String() {
			t.Errorf("it prints\n%s\nand then\n%s", printed[0].String(), printed[1].String())
		}
	}
}

// TestHelpPageIsCurrent holds docs/cli.md to what tare says.
func TestHelpPageIsCurrent(t *testing.T) {
	want, err := os.ReadFile(filepath.Join(repository, "docs/cli.md"))
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	err = page.WriteHelp(&got, func(words ...string) (string, error) {
		var out bytes.Buffer
		if status := run(words, streams{in: os.Stdin, out: &out, err: &out}); status != exitDone {
			return "", fmt.Errorf("exit status %d: %s", status, out.String())
		}
		return out.String(), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Error("docs/cli.md is old: go run ./test/docs > docs/cli.md")
	}
}

// TestWrongCommandsInDocumentsAreFound: the test before would name each of these.
func TestWrongCommandsInDocumentsAreFound(t *testing.T) {
	for _, wrong := range []page.Typed{
		{Text: "tare run --netwroks host"},
		{Text: "tare run --networks vxlann"},
		{Text: "tare run --workloads tcp_steam"},
		{Text: "tare run --paths crosshost"},
		{Text: "tare run --duration 60"},
		{Text: "tare run no/such/plan.yaml"},
		{Text: "tare import examples/none.log"},
		{Text: "tare report no/such.json -o none.html"},
		{Text: "tare lab up vxlam"},
		{Text: "tare lab exec --name none h1 -- ip addr"},
		{Text: "tare mesh"},
		{Text: "echo | tare rum"},
		{Text: "tare run --netwroks", Within: true},
		{Text: "tare lab pu", Within: true},
	} {
		tried := rehearsed(t, []page.Typed{wrong})
		if len(tried) != 1 || tried[0].refused(wrong.Within, nil) == "" {
			t.Errorf("%s is taken for right: %+v", wrong.Text, tried)
		}
	}
}
