package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"tare/engine"
	"tare/lab"
	"tare/result"
)

func imageCommand(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "image [FILE]",
		Short: "Write this program as a container image",
		Long: `Image writes a container image that holds this program and nothing else, as docker load,
podman load and ctr images import take it: to a file, or to standard output where that is
no terminal. It is for engines and clusters that you give images to yourself.`,
		Example: `  tare image | docker load
  tare image tare.tar`,
		Args: atMostOne("write one file"),
		RunE: func(_ *cobra.Command, args []string) error {
			image := engine.Image{Name: "localhost/tare:" + version, Entrypoint: []string{lab.SelfInImage}}
			if len(args) == 0 {
				if isTerminal(s.out) {
					return wrong("tare image: standard output is a terminal: name a file, or write it to a program as in: tare image | docker load")
				}
				return image.Write(s.out)
			}
			if err := result.ReplaceFile(args[0], image.Write); err != nil {
				return &exitError{exitWrong, fmt.Errorf("write image: %w: name a file elsewhere", err)}
			}
			return nil
		},
	}
}
