package main

import (
	"github.com/spf13/cobra"

	"tare/agent"
	"tare/engine"
	"tare/engine/cniplugin"
	"tare/engine/containerd"
	"tare/engine/docker"
	"tare/lab"
	"tare/network"
	"tare/site"
)

// agentCommand runs the agent of one end of a site.
func agentCommand(s streams) *cobra.Command {
	return &cobra.Command{
		Use:    site.AgentVerb,
		Short:  "The agent of a site: takes requests on standard input; started by tare itself",
		Hidden: true,
		Args:   noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return agent.Serve(c.Context(), s.in, s.out, version)
		},
	}
}

// keeperCommand keeps a lab's namespaces alive.
func keeperCommand() *cobra.Command {
	return &cobra.Command{
		Use:    site.KeeperVerb,
		Short:  "Keeps a lab alive; started by tare itself",
		Hidden: true,
		Args:   noArgs,
		RunE:   func(*cobra.Command, []string) error { return site.Keep() },
	}
}

// relayCommand relays published ports inside a lab.
func relayCommand(s streams) *cobra.Command {
	return &cobra.Command{
		Use:    network.RelayVerb + " LISTEN/PROTOCOL=TO...",
		Short:  "Relays published ports in user space; started by tare itself",
		Hidden: true,
		Args:   cobra.MinimumNArgs(1),
		RunE:   func(c *cobra.Command, args []string) error { return network.RunRelay(c.Context(), args, s.out) },
	}
}

// tunnelCommand carries packets between hosts inside a lab.
func tunnelCommand(s streams) *cobra.Command {
	return &cobra.Command{
		Use:    network.TunnelVerb + " SPEC",
		Short:  "Carries packets between hosts over UDP; started by tare itself",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE:   func(c *cobra.Command, args []string) error { return network.RunTunnel(c.Context(), args[0], s.out) },
	}
}

// waitCommand keeps a real engine's container running.
func waitCommand() *cobra.Command {
	return &cobra.Command{
		Use:    engine.WaitVerb,
		Short:  "Waits in a container; started by tare itself",
		Hidden: true,
		Args:   noArgs,
		Run:    func(*cobra.Command, []string) { engine.Wait() },
	}
}

// launchCommand starts a process in a real engine's container.
func launchCommand() *cobra.Command {
	return &cobra.Command{
		Use:                lab.ContainerExecVerb,
		Short:              "Starts a process in a container; started by tare itself",
		Hidden:             true,
		DisableFlagParsing: true, // they are the command's
		Args:               cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, argv []string) error {
			status, err := lab.ExecInContainer(argv)
			if err == nil && status != 0 {
				return &exitError{status: status}
			}
			return err
		},
	}
}

// lookUpCommand queries a container's name server.
func lookUpCommand(s streams) *cobra.Command {
	return &cobra.Command{
		Use:    docker.LookUpVerb,
		Short:  "Looks up a name in a container; started by tare itself",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return docker.LookUp(c.Context(), args[0], s.out)
		},
	}
}

// podExecCommand starts a process in a pod's container.
func podExecCommand() *cobra.Command {
	return &cobra.Command{
		Use:    containerd.ExecVerb + " CONTAINER COMMAND...",
		Short:  "Starts a process in a pod's container; started by tare itself",
		Hidden: true,
		Args:   cobra.MinimumNArgs(2),
		RunE:   func(_ *cobra.Command, args []string) error { return containerd.Exec(args[0], args[1:]) },
	}
}

// cniCommand attaches or detaches a container by CNI plugins.
func cniCommand(s streams) *cobra.Command {
	return &cobra.Command{
		Use:    cniplugin.Verb + " REQUEST",
		Short:  "Attaches or detaches a container by CNI plugins; started by tare itself",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return cniplugin.Run(c.Context(), args[0], s.out)
		},
	}
}
