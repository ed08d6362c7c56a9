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
