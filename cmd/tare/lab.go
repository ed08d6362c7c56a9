package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"tare/catalog"
	"tare/experiment"
	"tare/lab"
	"tare/result"
	"tare/site"
)

func labCommand(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "lab",
		Short: "Build, use and remove labs that stay up",
		Long: `A lab is a set of hosts and containers made of namespaces on this machine.
Hosts are h1, h2; their containers h1/c1, h1/c2. In a lab of several networks the
network's name comes first: vxlan.h1/c1.`,
		Example: `  tare lab up vxlan --name demo
  tare lab exec --name demo h1/c1 -- ip addr
  tare run --lab demo
  tare lab down --name demo`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(labUpCommand(s), labListCommand(s), labShowCommand(s), labExecCommand(s), labDownCommand(s))
	return c
}

// nameFlag registers the flag that every verb of a lab has.
func nameFlag(c *cobra.Command, name *string) {
	c.Flags().StringVar(name, "name", "lab", "name of the lab")
}

func labUpCommand(s streams) *cobra.Command {
	var name, nic, link, pin, cc, cpus string
	var hosts, containers, mtu, ip int
	var loading modules
	own := []string{catalog.Hosts, catalog.Containers} // one number for all networks
	c := &cobra.Command{
		Use:   "up NETWORK...",
		Short: "Build a lab that stays up until it is taken down",
		RunE: func(c *cobra.Command, args []string) error {
			spec, err := labSpec(args, hosts, containers, func(p *result.Plan) error {
				p.EncapNIC = nil
				p.Axes = p.Axes.With("nic", nic).With("mtu", float64(mtu)).With("ip", float64(ip)).With("pin", pin).With("cc", cc)
				errs := []error{checkParams(c.Flags(), p, own...)}
				varied, err := networkParams(c.Flags(), p.Networks, own...)
				p.Networks, errs = varied, append(errs, err)
				if link != "" {
					p.Axes, err = p.Axes.WithFlag("link", link)
					if len(p.Axes["link"]) > 1 {
						err = fmt.Errorf("--link %s: a lab has links of one rate", link)
					}
					errs = append(errs, err)
				}
				if cpus != "" {
					places, err := parsePlaces(cpus)
					p.CPUs, errs = places, append(errs, err)
				}
				return errors.Join(errs...)
			})
			if err != nil {
				return &exitError{exitWrong, err}
			}
			if err := site.CheckName(name); err != nil {
				return &exitError{exitWrong, err}
			}
			spec.Name = name
			if err := loading.load(c.Context(), result.Names(spec.Clusters, func(u site.ClusterSpec) string { return u.Network })); err != nil {
				return err
			}
			return labUp(c, s, spec)
		},
	}
	nameFlag(c, &name)
	pins, _ := result.AxisOf("pin")
	loading.register(c.Flags())
	c.Flags().IntVar(&hosts, "hosts", labHosts, "hosts of each network")
	c.Flags().IntVar(&containers, "containers", labContainers, "containers of each host")
	registerParams(c.Flags(), catalog.Params(), own...)
	registerParam(c.Flags())
	c.Flags().StringVar(&nic, "nic", lab.NICs()[0], "model of the hosts' interfaces: "+strings.Join(lab.NICs(), ", "))
	c.Flags().StringVar(&link, "link", "", "link between hosts: its rate, for example 10gbit, and what it does besides, as in 1gbit,delay=20ms,loss=0.1%,reorder=1% (default: limited by the CPU only)")
	c.Flags().IntVar(&mtu, "mtu", 1500, "MTU of the link between hosts, in bytes")
	c.Flags().IntVar(&ip, "ip", 4, "version of IP: 4, or 6 where each address of IPv4 has one of IPv6 besides")
	c.Flags().StringVar(&pin, "pin", pins.Words[0], "CPUs of the hosts: "+strings.Join(pins.Words, ", "))
	c.Flags().StringVar(&cpus, "cpus", "", "CPUs of each host, as h1=0,h2=1")
	c.Flags().StringVar(&cc, "cc", "cubic", "TCP congestion control of both ends")
	return c
}

// labSpec is the lab of the networks named, each with the baseline's pairs.
func labSpec(names []string, hosts, containers int, adjust func(*result.Plan) error) (site.Spec, error) {
	if len(names) == 0 {
		return site.Spec{}, errors.New("name the networks to set up, for example tare lab up vxlan: tare list networks shows them")
	}
	if hosts < 1 || hosts > catalog.MaxHosts {
		return site.Spec{}, fmt.Errorf("--hosts %d: it must be from 1 to %d", hosts, catalog.MaxHosts)
	}
	if containers < 0 || containers > catalog.MaxContainers {
		return site.Spec{}, fmt.Errorf("--containers %d: it must be from 0 to %d", containers, catalog.MaxContainers)
	}
	plan := experiment.Quick()
	plan.Networks = []result.NetworkPlan{{Name: catalog.Baseline}}
	for _, n := range list(strings.Join(names, ","), experiment.Everything()) {
		if !slices.ContainsFunc(plan.Networks, func(had result.NetworkPlan) bool { return had.Name == n }) {
			plan.Networks = append(plan.Networks, result.NetworkPlan{Name: n})
		}
	}
	if err := adjust(&plan); err != nil {
		return site.Spec{}, err
	}
	plan = experiment.Complete(plan)
	if err := experiment.Check(plan); err != nil {
		return site.Spec{}, err
	}
	return experiment.Spec(plan, hosts, containers), nil
}

func labUp(c *cobra.Command, s streams, spec site.Spec) error {
	l, err := site.Up(c.Context(), spec)
	if err != nil {
		return labError(err)
	}
	for _, u := range l.Topology.Clusters {
		if u.Error == "" {
			continue
		}
		err := fmt.Errorf("%s can't be set up here: %s%s", u.Network, u.Error, getting(u))
		return &exitError{exitMissing, errors.Join(err, l.Close(), site.Down(context.WithoutCancel(c.Context()), spec.Name))}
	}
	fmt.Fprintf(s.out, "lab %s is up: %s\n", spec.Name, strings.Join(folded(l.Topology.Addresses()), " "))
	fmt.Fprintf(s.out, "  tare lab exec --name %s %s -- ip addr\n  tare run --lab %s\n  tare lab down --name %s\n",
		spec.Name, l.Topology.Addresses()[0], spec.Name, spec.Name)
	return l.Close()
}

// mostPlaces is how many containers of a host are named one by one.
const mostPlaces = 8

// folded are addresses of a lab's places in their order; of a host with many containers the
// first and the last.
func folded(addresses []string) (short []string) {
	for len(addresses) > 0 {
		host := catalog.HostOf(addresses[0])
		n := 1
		for n < len(addresses) && catalog.HostOf(addresses[n]) == host {
			n++
		}
		if own := addresses[:n]; n <= 1+mostPlaces {
			short = append(short, own...)
		} else {
			short = append(short, own[0], own[1]+"..."+own[n-1])
		}
		addresses = addresses[n:]
	}
	return short
}

func labListCommand(s streams) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "list", Short: "List the labs", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			entries, err := site.List(c.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(s.out).Encode(entries)
			}
			table := tabwriter.NewWriter(s.out, 0, 8, 2, ' ', 0)
			for _, e := range entries {
				state := "up since " + e.Created.Local().Format("2006-01-02 15:04:05")
				if !e.Running {
					state = "its keeper has died: remove it with tare lab down --name " + e.Name
				}
				fmt.Fprintf(table, "%s\t%s\t%s\n", e.Name, strings.Join(e.Networks, ","), state)
			}
			return table.Flush()
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "write an array to standard output")
	return c
}

func labDownCommand(s streams) *cobra.Command {
	var name string
	c := &cobra.Command{
		Use: "down", Short: "Take a lab down", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := site.Down(c.Context(), name); err != nil {
				return labError(err)
			}
			_, err := fmt.Fprintf(s.out, "lab %s is down\n", name)
			return err
		},
	}
	nameFlag(c, &name)
	return c
}

// labError gives the errors of a lab that does not exist, or exists already, the
// exit status of wrong input.
func labError(err error) error {
	if errors.Is(err, site.ErrNoLab) || errors.Is(err, site.ErrLabExists) {
		return &exitError{exitWrong, err}
	}
	return err
}
