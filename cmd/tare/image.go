package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"tare/engine"
	"tare/lab"
	"tare/result"
	"tare/site"
)

func imageCommand(s streams) *cobra.Command {
	push := ""
	c := &cobra.Command{
		Use:   "image [FILE]",
		Short: "Write this program as a container image",
		Long: `Image writes a container image that holds this program and nothing else, as docker load,
podman load and ctr images import take it: to a file, or to standard output.

With --push it is sent to a registry, for each architecture for which a tare is beside
this one (make dist), as docker login or podman login lets you. What is printed names it.`,
		Example: `  tare image | docker load
  tare image tare.tar
  tare image --push registry.example.net/tools/tare:1`,
		Args: atMostOne("write one file"),
		RunE: func(c *cobra.Command, args []string) error {
			image := engine.Image{Name: "localhost/tare:" + version, Entrypoint: []string{lab.SelfInImage}}
			switch {
			case push != "" && len(args) > 0:
				return wrong("tare image: --push %s and %s: the image goes to one of them: leave the other out", push, args[0])
			case push != "":
				return pushImage(c.Context(), s, push)
			case len(args) == 0 && isTerminal(s.out):
				return wrong("tare image: standard output is a terminal: name a file, or write it to a program as in: tare image | docker load")
			case len(args) == 0:
				return image.Write(s.out)
			}
			if err := result.ReplaceFile(args[0], image.Write); err != nil {
				return &exitError{exitWrong, fmt.Errorf("write image: %w: name a file elsewhere", err)}
			}
			return nil
		},
	}
	c.Flags().StringVar(&push, "push", "", "send it to a registry, as REGISTRY/NAME:TAG")
	return c
}

// pushImage sends the image to a registry, and prints how it is named with --image.
func pushImage(ctx context.Context, s streams, to string) error {
	images, err := site.Images(to)
	if err != nil {
		return err
	}
	pushed, err := engine.Push(ctx, to, images)
	if name := new(engine.NameError); errors.As(err, &name) {
		return &exitError{exitWrong, err}
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(s.err, "tare: pushed for %s\n", strings.Join(result.Names(images, func(i engine.Image) string { return i.Arch }), ", "))
	_, err = fmt.Fprintln(s.out, pushed)
	return err
}
