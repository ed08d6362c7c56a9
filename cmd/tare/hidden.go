package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"tare/agent"
	"tare/engine"
	"tare/engine/cniplugin"
	"tare/engine/containerd"
	"tare/engine/docker"
	"tare/engine/runsc"
	"tare/lab"
	"tare/network/kinds"
	"tare/site"
	"tare/site/kubernetes"
	"tare/vm"
)

// hiddenCommands are those that tare itself starts, in its labs.
func hiddenCommands(s streams) []*cobra.Command {
	hidden := func(use, short string, args cobra.PositionalArgs, run func(ctx context.Context, args []string) error) *cobra.Command {
		return &cobra.Command{
			Use: use, Short: short + "; started by tare itself", Hidden: true, Args: args,
			RunE: func(c *cobra.Command, args []string) error { return run(c.Context(), args) },
		}
	}
	launch := hidden(lab.ContainerExecVerb, "Starts a process in a container", cobra.MinimumNArgs(1), func(_ context.Context, argv []string) error {
		status, err := lab.ExecInContainer(argv)
		if err == nil && status != 0 {
			return &exitError{status: status}
		}
		return err
	})
	sandboxed := hidden(runsc.ExecVerb, "Starts a process in a sandbox", cobra.MinimumNArgs(2), func(_ context.Context, argv []string) error {
		status, err := runsc.Exec(argv[0], argv[1:])
		if err == nil && status != 0 {
			return &exitError{status: status}
		}
		return err
	})
	for _, c := range []*cobra.Command{launch, sandboxed} {
		c.DisableFlagParsing = true // they are the command's
	}
	return []*cobra.Command{
		hidden(agent.Verb, "The agent of a site: takes requests on standard input", noArgs,
			func(ctx context.Context, _ []string) error { return agent.Serve(ctx, s.in, s.out, version) }),
		outpostCommand(s),
		hidden(site.HoldVerb+" DIGEST", "Waits until an outpost has begun from it", cobra.ExactArgs(1),
			func(_ context.Context, args []string) error { return site.Hold(args[0], s.out) }),
		hidden(site.KeepVerb+" DIGEST", "Keeps itself for the next run", cobra.ExactArgs(1),
			func(_ context.Context, args []string) error { return site.KeepProgram(args[0], s.out) }),
		hidden(site.KeeperVerb, "Keeps a lab alive", noArgs,
			func(context.Context, []string) error { return site.Keep() }),
		hidden(kinds.RelayVerb+" LISTEN/PROTOCOL=TO...", "Relays published ports in user space", cobra.MinimumNArgs(1),
			func(ctx context.Context, args []string) error { return kinds.RunRelay(ctx, args, s.out) }),
		hidden(engine.WaitVerb, "Waits in a container", noArgs,
			func(context.Context, []string) error { engine.Wait(); return nil }),
		hidden(kubernetes.WaitVerb+" IDLE", "Waits in a pod as long as somebody uses it", cobra.ExactArgs(1), func(_ context.Context, args []string) error {
			idle, err := time.ParseDuration(args[0])
			if err != nil {
				return wrong("%s: write how long, as in 1m: %w", args[0], err)
			}
			return kubernetes.Wait(idle)
		}),
		launch, sandboxed,
		hidden(docker.LookUpVerb, "Looks up a name in a container", cobra.ExactArgs(1),
			func(ctx context.Context, args []string) error { return docker.LookUp(ctx, args[0], s.out) }),
		hidden(containerd.ExecVerb+" CONTAINER COMMAND...", "Starts a process in a pod's container", cobra.MinimumNArgs(2),
			func(_ context.Context, args []string) error { return containerd.Exec(args[0], args[1:]) }),
		hidden(cniplugin.Verb+" REQUEST", "Attaches or detaches a container by CNI plugins", cobra.ExactArgs(1),
			func(ctx context.Context, args []string) error { return cniplugin.Run(ctx, args[0], s.out) }),
		hidden(kinds.TunnelVerb+" SPEC", "Carries packets between hosts over UDP", cobra.ExactArgs(1),
			func(ctx context.Context, args []string) error { return kinds.RunTunnel(ctx, args[0], s.out) }),
		hidden(vm.InitVerb, "The first process of a virtual machine", noArgs,
			func(context.Context, []string) error { return vm.Init() }),
	}
}

func outpostCommand(s streams) *cobra.Command {
	var staged string
	c := &cobra.Command{
		Use: site.OutpostVerb, Short: "Starts agents at a place that a command reaches; started by tare itself", Hidden: true, Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return site.ServeOutpost(c.Context(), s.in, s.out, version, staged)
		},
	}
	c.Flags().StringVar(&staged, "staged", "", "the file that it was started from, to remove")
	return c
}
