// Command bench measures tare itself, one experiment at a time, and writes what it found into
// bench/results/DATE:
//
//	make build; go run ./bench EXPERIMENT [-o FILE] [flags of the experiment; -h lists them]
//
// The experiments are balance (how finely tare weighs), diagnosis (faults that are injected, and what
// tare names), mesh (what a mesh of many nodes costs, and whom it names), and peers (the engine compared
// with other tools). Each is a folder: its lists, as data, what it measures, and the template of its
// page. harness is what they share.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"

	"tare/bench/balance"
	"tare/bench/diagnosis"
	"tare/bench/mesh"
	"tare/bench/peers"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return errors.New("no experiment: choose balance, diagnosis, mesh or peers")
	}
	if verb, is := peers.Verbs()[args[0]]; is { // an interrupt ends it
		return verb(args[1:])
	}
	experiment, known := map[string]func(context.Context, []string) error{
		"balance": balance.Run, "diagnosis": diagnosis.Run, "mesh": mesh.Run, "peers": peers.Run,
	}[args[0]]
	if !known {
		return fmt.Errorf("%q is no experiment: choose balance, diagnosis, mesh or peers", args[0])
	}
	// Debian has some tools where an ordinary user's PATH does not reach.
	if err := os.Setenv("PATH", os.Getenv("PATH")+":/usr/sbin:/sbin"); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	return experiment(ctx, args[1:])
}
