package recipes

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/format"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"tare/result"
	"tare/test/labtest"
)

// root is the repository's, from this folder.
const root = "../.."

// recipes are the kinds of which CONTRIBUTING has one, by the heading there.
var recipes = map[string]string{
	"axis":     "## Add an axis",
	"network":  "## Add a network",
	"workload": "## Add a workload",
	"rule":     "## Add a rule",
	"probe":    "## Add a probe",
	"parser":   "## Add a parser",
	"chart":    "## Add a chart",
	"case":     "## Add a published measurement",
}

// Every recipe names the files that a toy of its kind takes. They take it: what it is put
// next to is there, and what comes out is written as gofmt does.
func TestRecipesNameTheirFiles(t *testing.T) {
	tree := t.TempDir()
	for _, kind := range slices.Sorted(maps.Keys(recipes)) {
		promised := filesOf(t, kind)
		for _, name := range promised {
			if err := copyFile(tree, name); err != nil {
				t.Fatal(err)
			}
		}
		touched := addToy(t, tree, kind)
		if !slices.Equal(touched, promised) {
			t.Errorf("a %s takes %q, the recipe says %q", kind, touched, promised)
		}
		for _, name := range touched {
			text, err := os.ReadFile(filepath.Join(tree, name))
			if err == nil && strings.HasSuffix(name, ".go") {
				var formatted []byte
				formatted, err = format.Source(text)
				labtest.Equal(t, name+" is formatted", string(formatted) == string(text), true)
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// TestDeepRecipes adds a toy of every kind to a copy of the tree, in the files
// that its recipe names, and uses each as its users would.
func TestDeepRecipes(t *testing.T) {
	tree := copyTree(t)
	for _, kind := range slices.Sorted(maps.Keys(recipes)) {
		addToy(t, tree, kind)
	}
	web, err := filepath.Abs(filepath.Join(root, "report/web/node_modules"))
	if err == nil {
		err = os.Symlink(web, filepath.Join(tree, "report/web/node_modules"))
	}
	if err != nil {
		t.Fatal(err)
	}
	runIn(t, filepath.Join(tree, "report/web"), "node", "build.mjs")
	runIn(t, tree, "go", "vet", "./cmd/tare")
	runIn(t, tree, "go", "build", "-buildvcs=false", "-o", "tare", "./cmd/tare")

	// docs/cli.md is printed by a command, as report/web/dist is built by one.
	help := runIn(t, tree, "go", "run", "./test/docs")
	if err := os.WriteFile(filepath.Join(tree, "docs/cli.md"), []byte(help), 0o644); err != nil {
		t.Fatal(err)
	}

	runIn(t, tree, "go", "run", "./test/docs", "networks")

	// The tests that hold the lists and the documents to each other.
	runIn(t, tree, "go", "test", "-skip", labtest.NotQuick, "./result", "./catalog", "./network/...", "./workload", "./diagnose", "./probe", "./foreign", "./cases", "./test/docs")

	runIn(t, tree, "go", "test", "-run", "Parameter|Axes", "./experiment") // whose quick plan has the toys

	t.Run("lists", func(t *testing.T) {
		for _, of := range []struct{ list, name string }{{"networks", "toy"}, {"workloads", "toy_rr"}, {"cases", "toy"}} {
			if listed := runIn(t, tree, "./tare", "list", of.list); !regexp.MustCompile(`(?m)^\s*` + of.name + `\b`).MatchString(listed) {
				t.Errorf("tare list %s does not name %s:\n%s", of.list, of.name, listed)
			}
		}
	})
	t.Run("run", func(t *testing.T) { useInRun(t, tree) })
	t.Run("case", func(t *testing.T) {
		if plan := runIn(t, tree, "./tare", "run", "--case", "toy", "--dry-run"); !strings.Contains(plan, "name: 'toy: nodes'") {
			t.Errorf("the plan of the toy case is\n%s", plan)
		}
	})
	t.Run("import", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "toy.log")
		if err := os.WriteFile(path, []byte("toy: 1000 bit/s\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		res := decode(t, runIn(t, tree, "./tare", "import", path, "--json"))
		if len(res.Cells) != 1 || len(res.Cells[0].Metrics) != 1 || res.Cells[0].Metrics[0].Value != 1000 {
			t.Errorf("the toy's output is read as %+v", res.Cells)
		}
	})
}

// useInRun weighs the toy network under the toy workload with the toy axis: the toy rule names a
// cause, the toy probe is read, and the page has the toy chart.
func useInRun(t *testing.T, tree string) {
	out := filepath.Join(t.TempDir(), "toy.json")
	runIn(t, tree, "./tare", "run", "--networks", "toy", "--workloads", "toy_rr", "--paths", "same-host", "--blocks", "1", "--duration", "20ms", "--toy", "7", "--out", out)
	res, err := result.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var found, read []string
	for _, cell := range res.Cells {
		if cell.Network != "toy" || cell.Workload != "toy_rr" {
			continue
		}
		if cell.Status != result.StatusOK || len(cell.Samples) == 0 {
			t.Errorf("the toy network under the toy workload: %s %s, %d samples", cell.Status, cell.Reason, len(cell.Samples))
		}
		for _, f := range cell.Findings {
			found = append(found, f.ID)
		}
		labtest.Equal(t, "the toy axis of the cell", cell.Params.Count("toy"), 7)
		for _, m := range cell.Metrics {
			labtest.Contains(t, "warnings of "+m.Name, strings.Join(m.Warnings, "; "), "toy: 7")
		}
	}
	for _, s := range res.States {
		read = append(read, s.Source)
	}
	if !slices.Contains(found, "toy-cause") {
		t.Errorf("the toy's cell has the findings %q, want toy-cause among them", found)
	}
	if !slices.Contains(read, "/proc/net/sockstat") {
		t.Errorf("the states were read from %q, want the toy probe's among them", read)
	}
	page := filepath.Join(t.TempDir(), "toy.html")
	runIn(t, tree, "./tare", "report", out, "-o", page)
	shown := runIn(t, tree, "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
		"--user-data-dir="+t.TempDir(), "--dump-dom", "file://"+page)
	if !strings.Contains(shown, `<p class="toy">`) {
		t.Error("the page lacks the toy chart")
	}
}

// copyTree copies what git knows of the repository, with changes that are not
// committed yet.
func copyTree(t *testing.T) string {
	t.Helper()
	tree := t.TempDir()
	listed := runIn(t, root, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	for name := range strings.SplitSeq(strings.TrimSuffix(listed, "\x00"), "\x00") {
		if err := copyFile(tree, name); err != nil {
			t.Fatal(err)
		}
	}
	return tree
}

// copyFile copies a file of the repository, if it is there: one that was removed may not be
// committed yet, and one of a toy is new.
func copyFile(tree, name string) error {
	data, err := os.ReadFile(filepath.Join(root, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = os.MkdirAll(filepath.Join(tree, filepath.Dir(name)), 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(tree, name), data, 0o644)
	}
	return err
}

// addToy adds what testdata/KIND.txtar holds to a tree and returns the files that
// it touched, in order. A section is a new file, or a line for one that is there:
// "FILE: after TEXT" and "FILE: before TEXT" name the line next to it, "FILE: end
// of FUNC" the list that the Go function returns.
func addToy(t *testing.T, tree, kind string) []string {
	t.Helper()
	toy, err := txtar.ParseFile(filepath.Join("testdata", kind+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	var touched []string
	for _, section := range toy.Files {
		name, place, edit := strings.Cut(section.Name, ": ")
		path := filepath.Join(tree, name)
		text, err := os.ReadFile(path)
		switch {
		case edit && err != nil:
			t.Fatal(err)
		case !edit && err == nil:
			t.Fatalf("%s is there already", name)
		case edit:
			text, err = insert(string(text), place, string(section.Data))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		default:
			text = section.Data
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, text, 0o644)); err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(touched, name) {
			touched = append(touched, name)
		}
	}
	slices.Sort(touched)
	return touched
}

// insert puts lines into a text, at a place as addToy has it.
func insert(text, place, lines string) ([]byte, error) {
	how, mark, _ := strings.Cut(place, " ")
	if list, is := strings.CutPrefix(place, "end of "); is {
		how, mark = "end", "\nfunc "+list+"() "
	}
	at := strings.Index(text, mark)
	if at < 0 {
		return nil, fmt.Errorf("no %q", mark)
	}
	switch how {
	case "before":
		at = strings.LastIndex(text[:at], "\n") + 1
	case "after":
		at += strings.Index(text[at:], "\n") + 1
	case "end":
		at += strings.Index(text[at:], "\n\t}\n") + 1
	default:
		return nil, fmt.Errorf("no place %q", place)
	}
	return []byte(text[:at] + lines + text[at:]), nil
}

// filesOf are the files that a recipe says it takes: what is in backquotes in
// its last paragraph, which begins with "Files:". NAME, NN and FAMILY are the toy's.
func filesOf(t *testing.T, kind string) []string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, recipe, has := strings.Cut(string(page), recipes[kind]+"\n")
	recipe, _, _ = strings.Cut(recipe, "\n## ")
	_, files, says := strings.Cut(recipe, "\nFiles:")
	if !has || !says {
		t.Fatalf("CONTRIBUTING.md: no %q with a paragraph that begins with \"Files:\"", recipes[kind])
	}
	var names []string
	for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(files, -1) {
		names = append(names, strings.NewReplacer("NN-NAME", "99-toy", "NAME", nameOf(kind), "networks_FAMILY", "networks_kernel", "workloads_FAMILY", "workloads_tcp").Replace(m[1]))
	}
	slices.Sort(names)
	return names
}

// nameOf is the name of the toy of a kind.
func nameOf(kind string) string {
	switch kind {
	case "workload":
		return "toy_rr"
	case "rule":
		return "toy_cause"
	}
	return "toy"
}

// runIn runs a command in a folder and returns what it printed.
func runIn(t *testing.T, dir, name string, arguments ...string) string {
	t.Helper()
	command := exec.Command(name, arguments...)
	command.Dir = dir
	var failed strings.Builder
	command.Stderr = &failed
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(arguments, " "), err, out, failed.String())
	}
	return string(out)
}

func decode(t *testing.T, text string) *result.Result {
	t.Helper()
	res := new(result.Result)
	if err := json.Unmarshal([]byte(text), res); err != nil {
		t.Fatal(err)
	}
	return res
}
