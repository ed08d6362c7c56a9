package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"tare/experiment"
	"tare/probe"
	"tare/site"
)

func labShowCommand(s streams) *cobra.Command {
	var name string
	var asJSON bool
	c := &cobra.Command{
		Use:   "show [HOST|HOST/CONTAINER]",
		Short: "Show links, addresses, routes, neighbours, FDB and firewall rules",
		Args:  atMostOne("show one place"),
		RunE: func(c *cobra.Command, args []string) (err error) {
			l, err := site.Join(c.Context(), name)
			if err != nil {
				return labError(err)
			}
			defer func() { err = errors.Join(err, l.Close()) }()
			at := ""
			if len(args) == 1 {
				at = args[0]
				if !l.Topology.Has(at) {
					return experiment.Unknown("place", at, l.Topology.Addresses())
				}
			}
			namespaces, err := l.Look(c.Context(), at)
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(s.out, shown(namespaces))
			}
			for _, one := range shown(namespaces) {
				one.print(s.out)
			}
			return nil
		},
	}
	nameFlag(c, &name)
	c.Flags().BoolVar(&asJSON, "json", false, "write an array to standard output")
	return c
}

// shownNamespace is a namespace as the command prints it: routes, neighbours and
// FDB entries are text.
type shownNamespace struct {
	Namespace  string        `json:"namespace"`
	Inode      uint64        `json:"inode"` // of the network namespace
	CPUs       string        `json:"cpus,omitempty"`
	Links      []probe.Link  `json:"links"`
	Routes     []string      `json:"routes"`
	Neighbours []string      `json:"neighbours"`
	FDB        []string      `json:"fdb"`
	Rules      []probe.Chain `json:"rules"`
}

func shown(namespaces []probe.Inventory) []shownNamespace {
	all := make([]shownNamespace, len(namespaces))
	for n, ns := range namespaces {
		all[n] = shownNamespace{
			Namespace: ns.Namespace, Inode: ns.Inode, CPUs: ns.CPUs, Links: ns.Links,
			Routes: texts(ns.Routes), Neighbours: texts(ns.Neighbours), FDB: texts(ns.FDB), Rules: ns.Rules,
		}
	}
	return all
}

func texts[T fmt.Stringer](values []T) []string {
	all := make([]string, len(values))
	for n, value := range values {
		all[n] = value.String()
	}
	return all
}

// print writes what the namespace holds, one line for each object.
func (l shownNamespace) print(w io.Writer) {
	fmt.Fprint(w, l.Namespace)
	if l.CPUs != "" {
		fmt.Fprintf(w, " (CPUs %s)", l.CPUs)
	}
	fmt.Fprintln(w)
	for _, link := range l.Links {
		state := "down"
		if link.Up {
			state = "up"
		}
		fmt.Fprintf(w, "  link %s %s mtu %d %s", link.Name, link.Kind, link.MTU, state)
		if link.Bridge != "" {
			fmt.Fprintf(w, " on %s", link.Bridge)
		}
		if len(link.Addresses) > 0 {
			fmt.Fprintf(w, " addr %s", strings.Join(texts(link.Addresses), " "))
		}
		fmt.Fprintln(w)
	}
	for _, section := range []struct {
		name  string
		lines []string
	}{{"route", l.Routes}, {"neighbour", l.Neighbours}, {"fdb", l.FDB}} {
		for _, line := range section.lines {
			fmt.Fprintf(w, "  %s %s\n", section.name, line)
		}
	}
	for _, r := range l.Rules {
		fmt.Fprintf(w, "  rules %s %s: %d\n", r.Table, r.Chain, r.Rules)
	}
}

func labExecCommand(s streams) *cobra.Command {
	var name string
	c := &cobra.Command{
		Use:   "exec HOST|HOST/CONTAINER -- COMMAND [ARG...]",
		Short: "Run a command at a host or in a container",
		Args: func(_ *cobra.Command, args []string) error {
			if len(command(args)) == 0 {
				return wrong("name a place and a command: tare lab exec --name demo h1/c1 -- ip addr")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) (err error) {
			l, err := site.Join(c.Context(), name)
			if err != nil {
				return labError(err)
			}
			defer func() { err = errors.Join(err, l.Close()) }()
			if !l.Topology.Has(args[0]) {
				return experiment.Unknown("place", args[0], l.Topology.Addresses())
			}
			status, err := l.Exec(c.Context(), args[0], command(args), s.in, os.Stdout, os.Stderr)
			if err == nil && status != 0 {
				err = &exitError{status: status}
			}
			return err
		},
	}
	nameFlag(c, &name)
	c.Flags().SetInterspersed(false)
	return c
}

// command is the command that follows the place, without the dashes between them.
func command(args []string) []string {
	if len(args) > 1 && args[1] == "--" {
		return args[2:]
	}
	return args[min(1, len(args)):]
}
