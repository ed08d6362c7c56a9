package main

import (
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

// TestPlansInDocuments holds every plan that a document shows to be one.
func TestPlansInDocuments(t *testing.T) {
	for _, file := range documents(t) {
		for _, b := range blocksOf(t, file) {
			if b.Kind != "yaml" {
				continue
			}
			if _, err := result.DecodePlan(strings.NewReader(b.Text)); err != nil {
				t.Errorf("%s:%d: %v", b.File, b.Line, err)
			}
		}
	}
}

// TestDeepExamples runs the example plans in short.
func TestDeepExamples(t *testing.T) {
	plans, err := filepath.Glob(filepath.Join(root, "examples/*.yaml"))
	if err != nil || len(plans) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	binary := labtest.Tare(t)
	for _, plan := range plans {
		t.Run(filepath.Base(plan), func(t *testing.T) {
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
