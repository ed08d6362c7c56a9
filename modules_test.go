package tare

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestReadersOfResultsLinkLittle holds what a program links that only reads results: neither an engine's
// client, nor netlink, nor BPF.
func TestReadersOfResultsLinkLittle(t *testing.T) {
	argv := []string{"list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}", "./report", "./weigh", "./diagnose", "./cases"}
	printed, err := exec.Command("go", argv...).Output()
	if err != nil {
		t.Fatal(err)
	}
	linked := strings.Fields(string(printed))
	slices.Sort(linked)
	if got, want := slices.Compact(linked), []string{"go.yaml.in/yaml/v3", "golang.org/x/sys"}; !slices.Equal(got, want) {
		t.Errorf("report, weigh, diagnose and cases link the modules %q, want %q: what is known of networks and workloads is in catalog", got, want)
	}
}

// TestLinkerDropsMethods holds who links Go's templates. Once a program runs one, the linker keeps every
// exported method of every type, since a template may name any: 5 MB of this one. So templates are run by a
// copy that calls no methods, and cobra runs none unless it is given one.
func TestLinkerDropsMethods(t *testing.T) {
	argv := []string{"list", "-deps", "-tags=grpcnotrace", "-f", "{{$of := .ImportPath}}{{range .Imports}}{{.}} {{$of}}\n{{end}}", "./cmd/tare"}
	printed, err := exec.Command("go", argv...).Output()
	if err != nil {
		t.Fatal(err)
	}
	var by []string
	for line := range strings.Lines(string(printed)) {
		if of, importer, _ := strings.Cut(strings.TrimSpace(line), " "); of == "text/template" || of == "html/template" {
			by = append(by, importer)
		}
	}
	slices.Sort(by)
	want := []string{"github.com/DataDog/datadog-agent/pkg/template/text", "github.com/spf13/cobra", "html/template"} // the copy has the types of html/template
	if !slices.Equal(by, want) {
		t.Errorf("templates are imported by %q, want %q: what fills in text uses the copy", by, want)
	}
}
