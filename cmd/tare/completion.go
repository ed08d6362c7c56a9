package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tare/cases"
	"tare/catalog"
	"tare/experiment"
	"tare/report"
	"tare/result"
	"tare/site"
	"tare/site/kubernetes"
)

// choices are the words that a flag or an argument takes.
type choices struct {
	words []string // with what each is behind a tab, where that is known
	list  bool     // a comma list is taken too: its last word is completed
	open  bool     // each goes on, as NAME=
}

// completeWords has the shell complete the values of all flags below a command, and what its arguments name.
// Nothing is built or tried for it.
func completeWords(c *cobra.Command) {
	for _, below := range c.Commands() {
		completeWords(below)
	}
	complete := func(f *pflag.Flag) {
		if f.Value.Type() == "bool" || slices.Contains(fileFlags(), f.Name) {
			return
		}
		_ = c.RegisterFlagCompletionFunc(f.Name, func(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
			if f.Name == singleParam {
				return completeParam(c, typed)
			}
			return choicesOf(c, f.Name).completing(typed)
		}) // it fails for a flag that is not there alone
	}
	c.Flags().VisitAll(complete)
	c.PersistentFlags().VisitAll(complete)
	switch c.CommandPath() {
	case "tare run":
		c.ValidArgsFunction = filesNamed("yaml", "yml", "json")
	case "tare compare", "tare report":
		c.ValidArgsFunction = filesNamed("json")
	case "tare lab up":
		c.ValidArgsFunction = func(_ *cobra.Command, had []string, typed string) ([]string, cobra.ShellCompDirective) {
			networks := slices.DeleteFunc(networkWords(), func(w string) bool { return slices.Contains(had, nameOf(w)) })
			return choices{words: networks}.completing(typed)
		}
	case "tare list":
		c.ValidArgs = []string{"networks", "workloads", "cases"}
	case "tare lab exec":
		c.ValidArgsFunction = completePlaces
	case "tare explain": // it names causes
	case "tare trend", "tare import", "tare image": // any file or folder
	default:
		c.ValidArgsFunction = cobra.NoFileCompletions
	}
	if f := c.Flags().Lookup("report"); f != nil {
		_ = c.RegisterFlagCompletionFunc(f.Name, filesNamed("html", "md", "csv"))
	}
}

// completePlaces completes the place at which a command runs in a lab; what follows is the command.
func completePlaces(c *cobra.Command, had []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(had) > 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	l, err := site.Join(c.Context(), c.Flag("name").Value.String())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp // the shell shows no errors
	}
	places := choices{words: l.Topology.Addresses()}
	if l.Close() != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return places.completing(typed)
}

func filesNamed(endings ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(endings, cobra.ShellCompDirectiveFilterFileExt)
}

// fileFlags are the flags that name files and folders.
func fileFlags() []string {
	return []string{
		"out", "report", "folded", "kernel", "verbose", "before", "after", "resume", "token-file", "junit", "summary", "far-path",
		flagName(catalog.CNIFile), flagName(catalog.CNIBin),
	}
}

// choicesOf are the words that a flag of a command takes; none: they have no names.
func choicesOf(c *cobra.Command, flag string) choices {
	several := func(words []string) choices { return choices{words: words, list: true} }
	one := func(words ...string) choices { return choices{words: words} }
	if f := c.Flag(flag); f != nil {
		if of, is := f.Value.(*word); is {
			return one(*of...)
		}
	}
	switch flag {
	case "networks", "allow-missing":
		return several(networkWords())
	case "paths":
		return several(catalog.Paths())
	case "workloads":
		if c.Name() == "mesh" {
			return several(ofMeshes)
		}
		return several(workloadWords())
	case "workload", flagName(catalog.Neighbour):
		return one(workloadWords()...)
	case "need":
		return several(result.Names(catalog.Demands(), func(d catalog.Demand) string { return d.Name + "\t" + d.Doc }))
	case "ip":
		return several([]string{"4", "6"})
	case "pin":
		if c.Name() == "send" || c.Name() == "serve" {
			return choices{}
		}
	case "design":
		return one(result.DesignSlots, result.DesignWindows)
	case "case":
		return one(result.Names(cases.IDs(), func(id string) string {
			of, _ := cases.Load(id) // its doc is a help, which an error leaves empty
			return id + "\t" + of.Doc
		})...)
	case "sweep":
		return choices{words: experiment.Sweepable(), open: true}
	case "by":
		return choices{words: append(experiment.Comparable(), "kernel"), open: true}
	case "cc":
		return one(site.CongestionControls()...)
	case "link":
		return several([]string{"100mbit", "1gbit", "10gbit", "25gbit"})
	case "baseline":
		return one(networkWords()...)
	case "site":
		return one(sitesOf(c)...)
	case "endpoint":
		return choices{words: site.Places(), open: true}
	case "docker-context", "docker-command", "context":
		return one(thoseOfClients(flag)...)
	case "lang":
		return one(report.Languages()...)
	case "format":
		return one(report.FormatNames()...)
	case "lab", "name":
		return one(labWords(c)...)
	}
	if a, is := result.First(result.PlannedAxes(), func(a result.Axis) bool { return a.Flag == flag && len(a.Words) > 0 }); is {
		return choices{words: a.Words, list: a.Many}
	}
	return choicesOfParam(c, flag)
}

// thoseOfClients are what the user's own clients are, and know.
func thoseOfClients(flag string) []string {
	switch flag {
	case "docker-context":
		return site.DockerContexts()
	case "context":
		return kubernetes.Contexts()
	default:
		return []string{"docker", "podman"}
	}
}

// sitesOf are the sites that a command takes.
func sitesOf(c *cobra.Command) []string {
	if c.Name() == "mesh" {
		return ofMeshSites
	}
	return siteNames()
}

// choicesOfParam are the values of a parameter: of one of workloads, those of the workloads that are typed.
func choicesOfParam(c *cobra.Command, flag string) (all choices) {
	for _, p := range catalog.Params() {
		if flagName(p.Name) == flag {
			return choices{words: p.Values, list: p.List}
		}
	}
	var typed []string
	for _, name := range []string{"workloads", "workload"} {
		if f := c.Flags().Lookup(name); f != nil && f.Changed {
			typed = list(f.Value.String(), experiment.Workloads())
		}
	}
	for _, w := range catalog.Workloads() {
		if len(typed) > 0 && !slices.Contains(typed, w.Name) {
			continue
		}
		of := map[string][]string{catalog.Mode: w.Modes, catalog.Server: w.Servers, catalog.Tool: w.Tools}[flag]
		for _, word := range of {
			all.words = result.AddOnce(all.words, word)
		}
	}
	if flag == catalog.Server || flag == catalog.Tool {
		all.words = append(all.words, catalog.Ours)
	}
	return all
}

func networkWords() []string {
	return result.Names(catalog.Networks(), func(n catalog.Network) string { return n.Name + "\t" + n.Doc })
}

func workloadWords() []string {
	return result.Names(catalog.Workloads(), func(w catalog.Workload) string { return w.Name + "\t" + w.Doc })
}

// labWords are the labs that are up.
func labWords(c *cobra.Command) []string {
	up, err := site.List(c.Context())
	if err != nil {
		return nil // the shell shows no errors
	}
	return result.Names(up, func(e site.Entry) string { return e.Name + "\t" + strings.Join(e.Networks, ", ") })
}

// nameOf is a word without what it is.
func nameOf(word string) string {
	name, _, _ := strings.Cut(word, "\t")
	return name
}

// completing are the choices that begin as what is typed, in a list those that it does not have yet.
func (of choices) completing(typed string) (fit []string, directive cobra.ShellCompDirective) {
	directive = cobra.ShellCompDirectiveNoFileComp
	words, before := of.words, ""
	if of.list {
		words = append(words[:len(words):len(words)], "all")
		before = typed[:strings.LastIndex(typed, ",")+1]
		directive |= cobra.ShellCompDirectiveNoSpace
	}
	if of.open {
		directive |= cobra.ShellCompDirectiveNoSpace
	}
	had := strings.Split(before, ",")
	for _, word := range words {
		name, is, _ := strings.Cut(word, "\t")
		if slices.Contains(had, name) || !strings.HasPrefix(before+name, typed) || len(of.words) == 0 {
			continue
		}
		if of.open {
			name += "="
		}
		fit = append(fit, strings.TrimRight(before+name+"\t"+is, "\t"))
	}
	return fit, directive
}
