package main

import (
	"cmp"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tare/catalog"
	"tare/test/labtest"
)

// flagsOf are the flags of a verb that people type.
func flagsOf(t *testing.T, verb string) (names []string, c *cobra.Command) {
	t.Helper()
	c, _, err := rootCommand(streams{in: os.Stdin, out: io.Discard, err: io.Discard, manner: &manner{}}).Find(strings.Fields(verb))
	if err != nil {
		t.Fatal(err)
	}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		single := catalog.OfSingleNetworks(strings.ReplaceAll(f.Name, "-", "_"))
		if (single || !f.Hidden) && f.Name != "help" {
			names = append(names, f.Name)
		}
	})
	return names, c
}

// Each flag of a run belongs somewhere, once, and nothing is listed that is no flag.
func TestEveryFlagOfARunBelongs(t *testing.T) {
	var listed []string
	for _, b := range belongings() {
		for _, name := range strings.Fields(b.flags) {
			if slices.Contains(listed, name) {
				t.Errorf("--%s is listed twice", name)
			}
			listed = append(listed, name)
			if b.at == 0 || b.in == 0 || b.heading == "" || b.chooses != 0 && b.in&b.chooses == 0 {
				t.Errorf("--%s belongs nowhere: %+v", name, b)
			}
		}
	}
	flags, _ := flagsOf(t, "run")
	slices.Sort(listed)
	labtest.Equal(t, "flags of tare run", strings.Join(flags, " "), strings.Join(listed, " "))
}

// What `tare trace` has is what `tare run --trace` does not refuse.
func TestTraceIsRunTrace(t *testing.T) {
	has, _ := flagsOf(t, "trace")
	all, _ := flagsOf(t, "run")
	for _, name := range all {
		_, run := flagsOf(t, "run")
		for _, given := range []string{"trace", name} {
			value := map[string]string{"bool": "true", "duration": "1m", "language": "en"}[run.Flags().Lookup(given).Value.Type()]
			if err := run.Flags().Set(given, cmp.Or(value, "1")); err != nil {
				t.Fatal(err)
			}
		}
		refused := refuseJobs(run.Flags()) != nil
		if read := slices.Contains(has, name) || name == "trace"; read == refused {
			t.Errorf("--%s: tare trace has it: %v; tare run --trace refuses it: %v", name, read, refused)
		}
	}
}

// What a person reads of flags fits: those that belong to some networks, workloads or sites are named only.
func TestFlagsToReadAreFew(t *testing.T) {
	verbs := []string{
		"run", "doctor", "trace", "mesh", "compare", "trend", "report", "import", "list", "lab up", "lab list", "lab show", "lab exec", "lab down",
		"clean", "image", "serve", "send",
	}
	all := map[string]bool{}
	for _, verb := range verbs {
		names, _ := flagsOf(t, verb)
		own := slices.DeleteFunc(names, func(name string) bool { return isParameter(byFlag()[name].heading) })
		if verb == "run" && len(own) > 60 {
			t.Errorf("tare run has %d flags besides parameters, and 60 are to read", len(own))
		}
		for _, name := range own {
			all[name] = true
		}
	}
	rootCommand(streams{manner: &manner{}}).PersistentFlags().VisitAll(func(f *pflag.Flag) { all[f.Name] = true }) // of every verb
	if len(all) > 80 {
		t.Errorf("all verbs have %d flags besides parameters, and 80 are to read", len(all))
	}
	t.Logf("%d flags of all verbs, besides %d parameters", len(all), len(flagsIn(ofNetworks))+len(flagsIn(ofWorkloads))+len(flagsIn(ofSites)))
}

// Each parameter has an owner, but those of every network.
func TestParametersHaveOwners(t *testing.T) {
	for _, heading := range []string{ofNetworks, ofWorkloads, ofSites} {
		for _, name := range flagsIn(heading) {
			common := slices.Contains([]string{singleParam, catalog.Hosts, catalog.Containers, catalog.Rules, "rules-by", catalog.With, catalog.Neighbour}, name)
			labtest.Equal(t, "--"+name+" is of every network", owners(name) == "", common)
		}
	}
}
