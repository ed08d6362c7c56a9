package main

import (
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/pflag"

	"tare/result"
	"tare/site/kubernetes"
)

// registerCluster adds the flags that say which cluster, what there, and how.
func registerCluster(flags *pflag.FlagSet, to *kubernetes.Site) {
	flags.StringVar(&to.Context, "context", "", "the context of the kubeconfig (default: the current one)")
	flags.StringVar(&to.Namespace, "namespace", "", "a namespace that is there, for the pods (default: the run makes its own)")
	flags.StringSliceVar(&to.Nodes, "nodes", nil, "nodes, as in a,b (default: two ready ones of one zone and type; of a mesh all that take pods)")
	flags.StringVar(&to.Selector, "selector", "", "labels of the nodes to choose from, as kubectl takes them")
	flags.StringSliceVar(&to.Tolerations, "tolerations", nil, "taints of nodes that the pods tolerate, as in KEY=VALUE:EFFECT")
	flags.StringVar(&to.Image, "image", "", "the image of the pods, made by tare image (default: one that the nodes have, into which tare is sent)")
}

// registerProbe adds the flag by which nodes are looked at from inside.
func registerProbe(flags *pflag.FlagSet, to *kubernetes.Site) {
	flags.BoolVar(&to.ProbeNodes, "probe-nodes", false, "privileged pods on the nodes' own networks: they follow packets and read rules there")
}

// readLoad checks the load of a cluster. What is a parameter of networks too is taken from
// them, since it is the cluster's.
func readLoad(flags *pflag.FlagSet, to *kubernetes.Load) error {
	for _, name := range []string{"policies", "services"} {
		into, given := &to.Policies, flags.Lookup(name)
		if name == "services" {
			into = &to.Services
		}
		if a, is := result.First(assignments(flags), func(a assigned) bool { return a.name == name }); is {
			return wrong("--param %s: a cluster has one number for all: give it with --%s", a.typed, name)
		}
		if given == nil || !given.Changed {
			continue
		}
		n, err := strconv.Atoi(given.Value.String())
		if err != nil {
			return wrong("--%s %s: at a cluster it is one number", name, given.Value)
		}
		*into, given.Changed = n, false
	}
	if to.Services < 0 || to.Policies < 0 || to.Pods < 0 {
		return wrong("--services, --policies and --pods: none may be below 0")
	}
	return nil
}

// printCron prints what has a cluster run this mesh by itself. What is typed besides is
// done each time.
func (f *meshFlags) printCron(s streams, flags *pflag.FlagSet) error {
	words := []string{"mesh"}
	flags.Visit(func(given *pflag.Flag) {
		switch given.Name {
		case "every", "context", "namespace", "json", "quiet":
			return
		}
		values := []string{given.Value.String()}
		if several, are := given.Value.(pflag.SliceValue); are {
			values = several.GetSlice()
		}
		for _, value := range values {
			words = append(words, fmt.Sprintf("--%s=%s", given.Name, value))
		}
	})
	text, err := f.cluster.Cron(f.every, append(words, "--json", "--quiet"))
	if err == nil {
		_, err = io.WriteString(s.out, text)
	}
	return err
}
