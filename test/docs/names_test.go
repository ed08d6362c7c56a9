package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"tare/result"
	"tare/test/labtest"
	"tare/workload"
)

func TestHelpPageIsCurrent(t *testing.T) {
	want, err := os.ReadFile(filepath.Join(root, "docs/cli.md"))
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := generate(&got); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Error("docs/cli.md is old: go run ./test/docs > docs/cli.md")
	}
}

// TestPlansInDocuments holds every plan that a document shows to be one.
func TestPlansInDocuments(t *testing.T) {
	for _, file := range documents(t) {
		for _, b := range blocksOf(t, file) {
			if b.kind != "yaml" {
				continue
			}
			if _, err := result.DecodePlan(strings.NewReader(b.text)); err != nil {
				t.Errorf("%s:%d: %v", b.file, b.line, err)
			}
		}
	}
}

// TestRealExamples runs the example plans in short.
func TestRealExamples(t *testing.T) {
	plans, err := filepath.Glob(filepath.Join(root, "examples/*.yaml"))
	if err != nil || len(plans) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	binary := labtest.Tare(t)
	for _, plan := range plans {
		t.Run(filepath.Base(plan), func(t *testing.T) {
			once, err := exec.Command(binary, "run", "--dry-run", plan).Output()
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "plan.yaml")
			if err := os.WriteFile(path, once, 0o600); err != nil {
				t.Fatal(err)
			}
			twice, err := exec.Command(binary, "run", "--dry-run", path).Output()
			if err != nil || !bytes.Equal(once, twice) {
				t.Errorf("--dry-run is not accepted as it was printed: %v\n%s", err, twice)
			}
			// In windows: beside other tests all slots of one block may be late.
			out, err := exec.Command(binary, "run", plan, "--design", "windows", "--blocks", "1", "--duration", "100ms",
				"--out", filepath.Join(t.TempDir(), "result.json")).CombinedOutput()
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestDocumentsNameAll holds the reference pages to every name that there is.
func TestDocumentsNameAll(t *testing.T) {
	var workloads, metrics []string
	for _, w := range workload.All() {
		workloads = append(workloads, "`"+w.Name+"`")
	}
	for _, q := range result.Quantities() {
		metrics = append(metrics, "`"+q.Name+"`")
	}
	for _, c := range []struct {
		file  string
		names []string
	}{
		{"docs/plan.md", workloads},
		{"docs/plan.md", tags(reflect.TypeFor[result.Plan](), "yaml")},
		{"docs/result.md", metrics},
		{"docs/result.md", tags(reflect.TypeFor[result.Result](), "json")},
	} {
		text, err := os.ReadFile(filepath.Join(root, c.file))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range c.names {
			if !strings.Contains(string(text), name) {
				t.Errorf("%s does not name %s", c.file, strings.TrimSpace(name))
			}
		}
	}
}

// tags gives the names of a struct's fields, and of the structs in them, as
// documents write them.
func tags(of reflect.Type, key string) []string {
	switch of.Kind() {
	case reflect.Pointer, reflect.Slice:
		return tags(of.Elem(), key)
	case reflect.Struct:
		var names []string
		for n := range of.NumField() {
			field := of.Field(n)
			if name, _, _ := strings.Cut(field.Tag.Get(key), ","); name != "" && name != "-" {
				names = append(append(names, "`"+name+"`"), tags(field.Type, key)...)
			}
		}
		return names
	}
	return nil
}
