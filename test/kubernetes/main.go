// Command kubernetes is a Kubernetes cluster for tests: the programs of
// Kubernetes in one binary, and the verbs that run them in the hosts of a lab.
//
//	kubernetes up [--name NAME] [--nodes N] [--datapath bridge|flannel] [--proxy iptables|nftables]
//	kubernetes down [NAME]
//	kubernetes kubectl ARG...
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

// The hidden verbs, which run inside a host.
const (
	hostVerb  = "host"  // prepares the host and starts its daemons
	relayVerb = "relay" // starts a relay
	serveVerb = "serve" // is one
)

func main() {
	verb, args := "", []string{}
	if len(os.Args) > 1 {
		verb, args = os.Args[1], os.Args[2:]
	}
	if command := program(verb); command != nil {
		os.Args = os.Args[1:] // Kubernetes' commands read it
		os.Exit(cli.Run(command))
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, verb, args); err != nil {
		fmt.Fprintln(os.Stderr, "kubernetes:", err)
		os.Exit(1)
	}
}

// program is a program of Kubernetes, or nil.
func program(name string) *cobra.Command {
	switch name {
	case "kube-apiserver":
		return apiserver.NewAPIServerCommand()
	case "kube-controller-manager":
		return controllers.NewControllerManagerCommand()
	case "kube-scheduler":
		return scheduler.NewSchedulerCommand()
	case "kubelet":
		return kubelet.NewKubeletCommand(context.Background())
	case "kube-proxy":
		return proxy.NewProxyCommand()
	case "kubectl":
		keepCache()
		return kubectl.NewDefaultKubectlCommand()
	}
	return nil
}

// keepCache has kubectl keep its cache with the cluster, unless the user has chosen
// a folder: another cluster at the same address would be mistaken for this one.
func keepCache() {
	const variable = "KUBECACHEDIR"
	config, named := os.LookupEnv("KUBECONFIG")
	if _, chosen := os.LookupEnv(variable); chosen || !named {
		return // without it kubectl chooses
	}
	if err := os.Setenv(variable, home(filepath.Dir(config)).kubectlCache()); err != nil {
		fmt.Fprintln(os.Stderr, "kubernetes: choose cache of kubectl:", err)
	}
}

func run(ctx context.Context, verb string, args []string) error {
	switch {
	case verb == "up":
		want, err := parse(args)
		if err != nil {
			return err
		}
		return up(ctx, want)
	case verb == "down" && len(args) < 2:
		return down(ctx, cmp.Or(strings.Join(args, ""), usual))
	case verb == hostVerb && len(args) == 1:
		return runHost(ctx, args[0])
	case verb == relayVerb && len(args) == 1:
		return startRelay(args[0])
	case verb == serveVerb && len(args) == 1:
		return serveRelay(args[0])
	}
	return errors.New("read arguments: the verbs are up, down and kubectl: run make kubernetes or make kubernetes-down")
}

// parse reads the flags of up.
func parse(args []string) (settings, error) {
	var s settings
	flags := flag.NewFlagSet("up", flag.ContinueOnError)
	flags.StringVar(&s.Name, "name", usual, "name of the lab; several clusters may run")
	flags.IntVar(&s.Nodes, "nodes", 2, "nodes of the cluster, 2 to 10, with bridge 2 or 3")
	flags.StringVar(&s.Datapath, "datapath", bridge, "what carries packets between pods: bridge, flannel")
	flags.StringVar(&s.Proxy, "proxy", "iptables", "mode of kube-proxy: iptables, nftables")
	if err := flags.Parse(args); err != nil {
		return s, fmt.Errorf("read arguments: %w", err)
	}
	return s, s.check()
}
